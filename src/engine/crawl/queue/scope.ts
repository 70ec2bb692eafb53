/** Which addresses belong to a crawl. */
import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SkipReason } from '../../../core/shapes/crawl.ts'
import { decodedPart } from '../../../core/net/urls.ts'
import { linearGlob } from '../../linear-glob.ts'
import { type Folding, foldingOf, hostOf, identityOf } from './address.ts'

export interface ScopeWishes {
  readonly include_paths: readonly string[]
  readonly exclude_paths: readonly string[]
  readonly path_syntax?: 'glob' | 'regex' | undefined
  readonly below_start?: boolean
  readonly allow_subdomains: boolean
  readonly allow_external_links: boolean
}

type Matches = (path: string) => boolean

export interface PathRules {
  readonly included: Matches
  readonly excluded: Matches
}

/** @throws BaxError `invalid_request` for a pattern that cannot be read */
export function pathRules({ include_paths: include, exclude_paths: exclude, path_syntax }: ScopeWishes): PathRules {
  const syntax = syntaxes[path_syntax ?? 'glob']
  return {
    included: include.length === 0 ? () => true : anyOf(include, 'include_paths', syntax),
    excluded: anyOf(exclude, 'exclude_paths', syntax),
  }
}

/** Ways to match that are tried in less than some milliseconds. */
const mostTries = 1e6

interface Syntax {
  readonly name: string
  read(pattern: string): Matches
}

const syntaxes: Record<'glob' | 'regex', Syntax> = {
  glob: {
    name: 'a glob',
    read: (given) => {
      // As in the paths that they are for, a slash stands first.
      const glob = /^(?:\/|\*\*)/.test(given) ? given : `/${given}`
      const exact = picomatch(glob, { dot: true, noextglob: true, nonegate: true })
      const linear = linearGlob(glob, 'glob')
      const turns = glob.match(/\*+|\{/g)?.length ?? 0
      // The expression goes back at every turn; where that could take long, a star may stand for nothing at an end.
      return (path) => (path.length ** turns <= mostTries ? exact(path) : linear(path))
    },
  },
  regex: {
    name: 'a regular expression',
    // One that takes time in proportion to the path, whatever it looks for.
    read: (source) => {
      const compiled = RE2JS.compile(source)
      return (path) => compiled.matcher(path).find()
    },
  },
}

function anyOf(patterns: readonly string[], field: string, { name, read }: Syntax): Matches {
  const matchers = patterns.map((pattern, at) => {
    try {
      return read(pattern)
    } catch (cause) {
      const path = `${field}[${at}]`
      const message = `${path} is not ${name}: ${JSON.stringify(pattern)}`
      throw new BaxError('invalid_request', message, { cause, details: [{ path, message: `is not ${name}` }] })
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
    const path = decodedPart(url.pathname)
    return this.#isBelow(url, path) && this.#rules.included(path) && !this.#rules.excluded(path)
  }

  /** Other hosts, where they are wanted, have nothing to do with the start page's path. */
  #isBelow(url: URL, path: string): boolean {
    if (!this.#wishes.below_start || hostOf(url, this.#folding) !== this.#host) return true
    const top = decodedPart(this.#start.pathname).replace(/\/$/, '')
    return path === top || path.startsWith(`${top}/`)
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
