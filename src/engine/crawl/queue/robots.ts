/** Rules of robots.txt, fetched once per site. */
import { evictOldest } from '../../evict-oldest.ts'
import robotsParser from 'robots-parser'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { RequestRules } from '../../egress/egress.ts'
import { decodeText } from '../../render/http/charset.ts'
import { fetchPage } from '../../render/http/fetch.ts'
import type { RunFacts } from '../run-facts.ts'

/** The package is CommonJS, but its types describe an ES module. */
const parse = robotsParser as unknown as typeof robotsParser.default

const userAgent = 'bax'
const maxCached = 1000

export interface SiteRules {
  allows(url: string): boolean
  /** Delay between two requests, in milliseconds. */
  readonly delayMs: number
  readonly sitemaps: readonly string[]
}

const noRules: SiteRules = { allows: () => true, delayMs: 0, sitemaps: [] }

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

  /** Returns the rules of a site; no rules if they cannot be read. Rejects only with the reason of the signal. */
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
    const { signal, onWarning, plan, egress, answers } = this.#facts
    const address = `${origin}/robots.txt`
    const kept = answers.site(address) as { text: string } | undefined
    if (kept) return rulesOf(address, kept.text)
    try {
      const deadline = { ms: limits.crawl.robotsMs, error: 'it does not respond', signal, cooperative: true }
      const text = await withDeadline((inner) => fetchText(address, egress, inner), deadline)
      answers.keepSite(address, { text })
      return rulesOf(address, text)
    } catch (error) {
      signal.throwIfAborted()
      this.#unreadable.add(origin)
      if (!plan.input.ignore_robots)
        onWarning(`${address} could not be read (${(error as Error).message}): all URLs are treated as allowed`)
      return noRules
    }
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
  const robots = parse(address, text)
  const delay = Math.min(robots.getCrawlDelay(userAgent) ?? 0, limits.crawl.crawlDelaySecs)
  return {
    allows: (url) => robots.isAllowed(url, userAgent) ?? true,
    delayMs: delay > 0 ? delay * 1000 : 0,
    sitemaps: robots.getSitemaps(),
  }
}
