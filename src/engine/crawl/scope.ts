/** Which addresses belong to a crawl. */
import picomatch from 'picomatch'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { SkipReason } from '../../core/shapes/crawl.ts'
import { type Folding, foldingOf, hostOf, identityOf } from './address.ts'

export interface ScopeWishes {
  readonly include_paths: readonly string[]
  readonly exclude_paths: readonly string[]
  readonly allow_subdomains: boolean
  readonly allow_external_links: boolean
}

type Matches = (path: string) => boolean

export interface PathRules {
  readonly included: Matches
  readonly excluded: Matches
}

/** @throws BaxError `invalid_request` for a glob that cannot be read */
export function pathRules({ include_paths: include, exclude_paths: exclude }: ScopeWishes): PathRules {
  return {
    included: include.length === 0 ? () => true : anyOf(include, 'include_paths'),
    excluded: anyOf(exclude, 'exclude_paths'),
  }
}

function anyOf(globs: readonly string[], field: string): Matches {
  const matchers = globs.map((glob, at) => {
    // As in the paths that they are for, a slash stands first.
    const full = /^(?:\/|\*\*)/.test(glob) ? glob : `/${glob}`
    try {
      return picomatch(full, { dot: true, noextglob: true, nonegate: true })
    } catch (cause) {
      const path = `${field}[${at}]`
      const message = `${path} is not a glob: ${JSON.stringify(glob)}`
      throw new BaxError('invalid_request', message, { cause, details: [{ path, message: 'is not a glob' }] })
    }
  })
  // A page is the same with a slash at its end.
  return (path) => matchers.some((matches) => matches(path) || matches(path.replace(/(?<=.)\/$/, '')))
}

/** The borders of one crawl; they are known when the start page has been reached. */
export class Scope {
  readonly #wishes: ScopeWishes
  readonly #rules: PathRules
  readonly #start: URL
  readonly #folding: Folding
  readonly #host: string

  constructor(wishes: ScopeWishes, rules: PathRules, asked: URL, reached: URL) {
    this.#wishes = wishes
    this.#rules = rules
    this.#start = reached
    this.#folding = foldingOf(asked, reached)
    this.#host = hostOf(reached, this.#folding)
  }

  get origin(): string {
    return this.#start.origin
  }

  identity(url: URL): string {
    return identityOf(url, this.#folding)
  }

  /** Whether pages of the host are wanted. */
  holds(url: URL): boolean {
    if (this.#wishes.allow_external_links) return true
    if (hostOf(url, this.#folding) === this.#host && this.#sameScheme(url)) return true
    return this.#wishes.allow_subdomains && this.#isSubdomain(url)
  }

  /** Whether the path is one of those asked for. */
  passes(url: URL): boolean {
    const path = decoded(url.pathname)
    return this.#rules.included(path) && !this.#rules.excluded(path)
  }

  /** Why an address is left alone before it was ever asked for; undefined when it is not. */
  refuses(url: URL): SkipReason | undefined {
    if (!this.holds(url)) return 'off_host'
    if (url.href.length > limits.crawl.addressChars) return 'too_long'
    return this.passes(url) ? undefined : 'excluded'
  }

  /** A default port stands for its scheme. */
  #sameScheme(url: URL): boolean {
    return this.#folding.scheme || url.port !== '' || url.protocol === this.#start.protocol
  }

  #isSubdomain({ hostname, port }: URL): boolean {
    return port === this.#start.port && hostname.endsWith(`.${this.#start.hostname.replace(/^www\./, '')}`)
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
