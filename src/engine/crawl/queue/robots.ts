/** Rules of robots.txt (RFC 9309), fetched once per site. */
import { setTimeout as pause } from 'node:timers/promises'
import { evictOldest } from '../../evict-oldest.ts'
import robotsParser from 'robots-parser'
import { isOfCertificate } from '../../../core/errors/certificates.ts'
import { asBaxError, BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { RequestRules } from '../../egress/egress.ts'
import { decodeText } from '../../render/http/charset.ts'
import { cutWarning } from '../../render/http/decompress.ts'
import { fetchPage } from '../../render/http/fetch.ts'
import type { RunFacts } from '../run-facts.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import { type SiteTerms, termsIn } from './robots-terms.ts'
import { normalizeEscapes } from './url-identity.ts'

/** The package is CommonJS, but its types describe an ES module. */
const parse = robotsParser as unknown as typeof robotsParser.default

const userAgent = 'bax'
const maxCached = 1000

export interface SiteRules {
  allows(url: string): boolean
  /** Why the site could not be reached for its rules, without which nothing is allowed. */
  readonly unreachable?: BaxError
  /** Delay between two requests, in milliseconds. */
  readonly delayMs: number
  readonly sitemaps: readonly string[]
  /** Terms of use of all pages of the site. */
  readonly terms: SiteTerms
}

const noTerms: SiteTerms = { signals: {}, licenses: [] }
const noRules: SiteRules = { allows: () => true, delayMs: 0, sitemaps: [], terms: noTerms }

export interface RobotsFacts extends Pick<RunFacts, 'plan' | 'egress' | 'answers'> {
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

export class Robots {
  readonly #facts: RobotsFacts
  readonly #cached = new Map<string, Promise<SiteRules>>()
  /** Sites whose robots.txt could not be read. */
  readonly #unreadable = new Set<string>()

  constructor(facts: RobotsFacts) {
    this.#facts = facts
  }

  /** Returns the rules of a site, which allow nothing if they cannot be read. Rejects only with the signal's reason. */
  async rulesFor(url: URL): Promise<SiteRules> {
    const { ignore_robots: ignored, respect_signals: respected = [] } = this.#facts.plan.input
    if (!ignored) return this.#rules(url.origin)
    return respected.length === 0 ? noRules : { ...noRules, terms: (await this.#rules(url.origin)).terms }
  }

  /** Returns the sitemaps listed in robots.txt, also if its rules are ignored. */
  async sitemapsOf(origin: string): Promise<readonly string[]> {
    return (await this.#rules(origin)).sitemaps
  }

  /** Returns whether the robots.txt of a site could not be read, which may list sitemaps. */
  isUnreadable(origin: string): boolean {
    return this.#unreadable.has(origin)
  }

  #rules(origin: string): Promise<SiteRules> {
    let rules = this.#cached.get(origin)
    if (!rules) {
      evictOldest(this.#cached, maxCached - 1)
      this.#cached.set(origin, (rules = this.#load(origin)))
    }
    return rules
  }

  async #load(origin: string): Promise<SiteRules> {
    const { signal, onWarning, plan, egress, answers } = this.#facts
    const address = `${origin}/robots.txt`
    const kept = answers.site(address) as { text: string } | undefined
    if (kept) return rulesOf(address, kept.text)
    try {
      const deadline = { ms: limits.crawl.robotsMs, error: 'it does not respond', signal, cooperative: true }
      const text = await withDeadline((inner) => fetchWithRetries(address, egress, inner), deadline)
      answers.keepSite(address, { text })
      return rulesOf(address, text)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = asBaxError(thrown)
      this.#unreadable.add(origin)
      // A site that redirects for ever has no robots.txt.
      const rules = error.code === 'too_many_redirects' ? noRules : closedBy(error)
      if (!plan.input.ignore_robots)
        onWarning(`${address} could not be read (${error.message}): ${consequence(rules, error)}`)
      return rules
    }
  }
}

function consequence(rules: SiteRules, error: BaxError): string {
  if (rules === noRules) return 'all URLs are treated as allowed'
  const nothing = 'no page of the site is requested'
  // Pages of the site have the same certificate.
  return isOfCertificate(error) ? nothing : `${nothing}; set ignore_robots (--ignore-robots) to crawl it anyway`
}

/** Returns the rules of a site whose robots.txt failed: nothing is allowed. */
const closedBy = (error: BaxError): SiteRules => ({
  allows: () => false,
  delayMs: 0,
  sitemaps: [],
  terms: noTerms,
  ...(error.code !== 'server_error' && { unreachable: error }),
})

const temporary: ReadonlySet<string> = new Set<ErrorCode>(['connection_failed', 'dns_failed', 'server_error'])

async function fetchWithRetries(address: string, egress: RequestRules, signal: AbortSignal): Promise<string> {
  const { retries, retryMs } = limits.crawl
  for (let attempt = 0; ; attempt++) {
    try {
      return await fetchText(address, egress, signal)
    } catch (error) {
      if (attempt >= retries || !temporary.has((error as BaxError).code)) throw error
      await pause(retryMs * 2 ** attempt, undefined, { signal })
    }
  }
}

/** Fetches robots.txt. @throws BaxError if it cannot be read */
async function fetchText(address: string, egress: RequestRules, signal: AbortSignal): Promise<string> {
  const { status, bytes, headers, isCut } = await fetchPage(address, { egress, signal })
  if (status >= 500) throw new BaxError('server_error', `it responded with ${status}`)
  if (status >= 400) return ''
  // The rules at the end are unknown.
  if (isCut) throw new BaxError('connection_failed', cutWarning)
  const start = bytes.subarray(0, limits.crawl.robotsBytes)
  const { text } = await decodeText(start, headers.get('content-type'), { declares: false })
  return text
}

function rulesOf(address: string, text: string): SiteRules {
  const robots = parse(
    address,
    text.replaceAll(rule, (_, name: string, pattern: string) => name + comparablePattern(pattern)),
  )
  const delay = Math.min(robots.getCrawlDelay(userAgent) ?? 0, limits.crawl.crawlDelaySecs)
  return {
    allows: (url) => robots.isAllowed(comparableUrl(url), userAgent) ?? true,
    delayMs: delay > 0 ? delay * 1000 : 0,
    sitemaps: robots.getSitemaps().map((listed) => parseUrl(listed, address)?.href ?? listed),
    terms: termsIn(text, address, userAgent),
  }
}

/** A rule and its pattern, without a comment. */
const rule = /^([^\S\r\n]*(?:dis)?allow[^\S\r\n]*:)([^#\r\n]*)/gim

/** Escapes a path, with a query, in the one way in which rules and URLs are compared. */
const comparable = (path: string): string => normalizeEscapes(encodeURI(path).replaceAll('%25', '%'))

/** Returns a pattern to compare with URLs: `$` has a meaning at its end only. */
const comparablePattern = (pattern: string): string => comparable(pattern.trim()).replaceAll(/\$(?!$)/g, '%24')

/** Returns a URL to compare with rules, in which `*` and `$` have a meaning unless they are escaped. */
function comparableUrl(href: string): string {
  const { origin, pathname, search } = new URL(href)
  const path = comparable(pathname + search)
    .replaceAll('*', '%2A')
    .replaceAll('$', '%24')
  return origin + path
}
