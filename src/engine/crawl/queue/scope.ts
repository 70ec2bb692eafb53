/** The scope of a crawl: which URLs belong to it. */
import picomatch from 'picomatch'
import { RE2JS } from 're2js'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { SkipReason } from '../../../core/shapes/crawl.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { AllowedHosts } from '../../egress/allowed-hosts.ts'
import { linearGlob } from '../../linear-glob.ts'
import { logsOut } from './logout.ts'
import { type UrlEquivalence, equivalenceOf, hostOf, identityOf } from './url-identity.ts'

export interface ScopeOptions {
  readonly include_paths: readonly string[]
  readonly exclude_paths: readonly string[]
  readonly path_syntax?: 'glob' | 'regex' | undefined
  readonly below_start?: boolean
  readonly allow_subdomains: boolean
  readonly allow_external_links: boolean
  readonly allowed_domains?: readonly string[] | undefined
  readonly identity?: object | undefined
  readonly follow_logout?: boolean
}

type Matches = (path: string) => boolean

export type PathRules = Readonly<Record<'included' | 'excluded', Matches>>

/** Compiles the path patterns. @throws BaxError `invalid_request` for an invalid pattern */
export function pathRules({ include_paths: include, exclude_paths: exclude, path_syntax }: ScopeOptions): PathRules {
  const syntax = syntaxes[path_syntax ?? 'glob']
  return {
    included: include.length === 0 ? () => true : anyOf(include, 'include_paths', syntax),
    excluded: anyOf(exclude, 'exclude_paths', syntax),
  }
}

/** Number of backtracking steps that take a few milliseconds. */
const maxSteps = 1e6

interface Syntax {
  readonly name: string
  read(pattern: string): Matches
}

const syntaxes: Record<'glob' | 'regex', Syntax> = {
  glob: {
    name: 'a glob',
    read: (pattern) => {
      // Paths start with a slash, so patterns do too.
      const glob = /^(?:\/|\*\*)/.test(pattern) ? pattern : `/${pattern}`
      const exact = picomatch(glob, { dot: true, noextglob: true, nonegate: true })
      const linear = linearGlob(glob, 'glob')
      const stars = glob.match(/\*+|\{/g)?.length ?? 0
      // The picomatch expression backtracks at every star. Where that could take long, use a linear matcher, in which a
      // star at the end also matches nothing.
      return (path) => (path.length ** stars <= maxSteps ? exact(path) : linear(path))
    },
  },
  regex: {
    name: 'a regular expression',
    // RE2 takes linear time for any pattern.
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
  // A trailing slash does not make another page.
  return (path) => matchers.some((matches) => matches(path) || matches(path.replace(/(?<=.)\/$/, '')))
}

/** The scope of one crawl, known once the start page has been loaded. */
export class Scope {
  readonly #options: ScopeOptions
  readonly #rules: PathRules
  readonly #allowed: AllowedHosts | undefined
  readonly #start: URL
  readonly #equivalence: UrlEquivalence
  readonly #host: string

  constructor(options: ScopeOptions, rules: PathRules, requested: URL, reached: URL) {
    this.#options = options
    this.#allowed = options.allowed_domains && new AllowedHosts(options.allowed_domains)
    this.#rules = rules
    this.#start = reached
    this.#equivalence = equivalenceOf(requested, reached)
    this.#host = hostOf(reached, this.#equivalence)
  }

  get origin(): string {
    return this.#start.origin
  }

  identity(url: URL): string {
    return identityOf(url, this.#equivalence)
  }

  includesHost(url: URL): boolean {
    if (this.#allowed?.allows(url) === false) return false
    if (this.#options.allow_external_links) return true
    const { hostname, port } = this.#start
    // http and https of a host are one site.
    if (hostOf(url, this.#equivalence) === this.#host) return true
    const isSubdomain = url.port === port && url.hostname.endsWith(`.${hostname.replace(/^www\./, '')}`)
    return this.#options.allow_subdomains && isSubdomain
  }

  matchesPath(url: URL): boolean {
    const path = decodeUrlPart(url.pathname)
    return this.#isBelow(url, path) && this.#rules.included(path) && !this.#rules.excluded(path)
  }

  /** Returns whether the path is below that of the start page, which matters on its host only. */
  #isBelow(url: URL, path: string): boolean {
    if (!this.#options.below_start || hostOf(url, this.#equivalence) !== this.#host) return true
    const top = decodeUrlPart(this.#start.pathname).replace(/\/$/, '')
    return path === top || path.startsWith(`${top}/`)
  }

  /** Returns the reason to skip a URL without a request, undefined if there is none. */
  skipReason(url: URL): SkipReason | undefined {
    if (!this.includesHost(url)) return 'off_host'
    if (url.href.length > limits.crawl.addressChars) return 'too_long'
    const { identity, follow_logout: follows } = this.#options
    if (identity && !follows && logsOut(url)) return 'logout'
    return this.matchesPath(url) ? undefined : 'excluded'
  }
}
