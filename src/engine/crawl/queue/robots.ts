/** Rules of robots.txt, fetched once per site. */
import { evictOldest } from '../../evict-oldest.ts'
import robotsParser from 'robots-parser'
import { setTimeout as pause } from 'node:timers/promises'
import { asBaxError, BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { RequestRules } from '../../egress/egress.ts'
import { decodeText } from '../../render/http/charset.ts'
import { fetchPage } from '../../render/http/fetch.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import type { RunFacts } from '../run-facts.ts'
import { normalizeEscapes } from './url-identity.ts'

/** The package is CommonJS, but its types describe an ES module. */
const parse = robotsParser as unknown as typeof robotsParser.default

const userAgent = 'bax'
const maxCached = 1000

/** Why a page is not visited. */
export interface Refusal {
  /** Whether robots.txt forbids it; otherwise the site could not be reached. */
  readonly blocked: boolean
  readonly code: ErrorCode
  readonly error: string
}

export interface SiteRules {
  /** Returns why a URL must not be visited; undefined if it may be. */
  refusal(url: string): Refusal | undefined
  /** Delay between two requests, in milliseconds. */
  readonly delayMs: number
  readonly sitemaps: readonly string[]
}

/** Errors of connections, which the pages of a site have, too. */
const unreachable: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['connection_failed', 'dns_failed', 'tls_error', 'url_blocked']) // prettier-ignore
const temporary: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['connection_failed', 'server_error'])

const noRules: SiteRules = { refusal: () => undefined, delayMs: 0, sitemaps: [] }

const disallowed: Refusal = { blocked: true, code: 'robots_blocked', error: 'robots.txt does not allow it' }

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

  /**
   * Returns the rules of a site, which allow nothing while they cannot be read (RFC 9309, 2.3.1.4). Rejects only with the
   * reason of the signal.
   */
  async rulesFor(url: URL): Promise<SiteRules> {
    return this.#facts.plan.input.ignore_robots ? noRules : this.#rules(url.origin)
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
    const { signal, onWarning, plan, answers } = this.#facts
    const address = `${origin}/robots.txt`
    const kept = answers.site(address) as { text: string } | undefined
    if (kept) return rulesOf(address, kept.text)
    try {
      const text = await this.#read(address)
      answers.keepSite(address, { text })
      return rulesOf(address, text)
    } catch (thrown) {
      signal.throwIfAborted()
      const { code, message } = asBaxError(thrown)
      this.#unreadable.add(origin)
      if (plan.input.ignore_robots) return noRules
      const unread = `${address} could not be read (${message})`
      // Endless redirects mean the same as no file (RFC 9309, 2.3.1.2).
      const isMissing = code === 'too_many_redirects'
      onWarning(`${unread}: ${isMissing ? 'all URLs are treated as allowed' : 'no page of this site is visited unless robots.txt is ignored (ignore_robots)'}`) // prettier-ignore
      if (isMissing) return noRules
      const blocked = !unreachable.has(code)
      const refusal: Refusal = blocked ? { blocked, code: 'robots_blocked', error: `${unread}, so that no page is allowed` } : { blocked, code, error: message } // prettier-ignore
      return { ...noRules, refusal: () => refusal }
    }
  }

  /** Fetches robots.txt, and tries again after errors that may be temporary. */
  async #read(address: string): Promise<string> {
    const { signal, egress } = this.#facts
    const deadline = { ms: limits.crawl.robotsMs, error: 'it does not respond', signal, cooperative: true }
    return withDeadline(async (inner) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await fetchText(address, egress, inner)
        } catch (error) {
          inner.throwIfAborted()
          if (attempt >= limits.crawl.retries || !temporary.has(asBaxError(error).code)) throw error
          await pause(limits.crawl.retryMs * 2 ** attempt, undefined, { signal: inner })
        }
      }
    }, deadline)
  }
}

/** Fetches robots.txt. @throws BaxError if it cannot be read */
async function fetchText(address: string, egress: RequestRules, signal: AbortSignal): Promise<string> {
  const { status, bytes, headers } = await fetchPage(address, { egress, signal })
  if (status >= 500) throw new BaxError('server_error', `it responded with ${status}`)
  if (status >= 400) return ''
  const start = bytes.subarray(0, limits.crawl.robotsBytes)
  const { text } = await decodeText(start, headers.get('content-type'), { declares: false })
  return text
}

function rulesOf(address: string, text: string): SiteRules {
  // Rules and paths are compared in one form of percent-encoding (RFC 9309, 2.2.2).
  const robots = parse(address, normalizeEscapes(text))
  const delay = Math.min(robots.getCrawlDelay(userAgent) ?? 0, limits.crawl.crawlDelaySecs)
  return {
    refusal: (url) => ((robots.isAllowed(normalizeEscapes(url), userAgent) ?? true) ? undefined : disallowed),
    delayMs: delay > 0 ? delay * 1000 : 0,
    sitemaps: robots.getSitemaps().flatMap((typed) => parseUrl(typed, address)?.href ?? []),
  }
}
