/** What a site's robots.txt allows us; each is asked for once. */
import robotsParser from 'robots-parser'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { Egress } from '../../egress/egress.ts'
import { decodeText } from '../../render/http/charset.ts'
import { fetchPage } from '../../render/http/fetch.ts'
import { httpUserAgent } from '../../render/http/user-agent.ts'
import type { KeptAnswers } from '../store/kept-responses.ts'

/** Its types are those of an ES module, which it is not. */
const parse = robotsParser as unknown as typeof robotsParser.default

/** The name by which a robots.txt speaks to us. */
const agent = 'bax'
/** Hosts whose rules are kept. */
const mostKnown = 1000

export interface SiteRules {
  allows(url: string): boolean
  /** Milliseconds between two requests. */
  readonly delayMs: number
  readonly sitemaps: readonly string[]
}

const anything: SiteRules = { allows: () => true, delayMs: 0, sitemaps: [] }

export interface RobotsFacts {
  readonly ignore: boolean
  readonly egress: Egress
  readonly answers: KeptAnswers
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

export class Robots {
  readonly #facts: RobotsFacts
  readonly #known = new Map<string, Promise<SiteRules>>()

  constructor(facts: RobotsFacts) {
    this.#facts = facts
  }

  /** Never rejects but with the reason of the signal: a site whose rules cannot be had is one without rules. */
  async rulesFor(url: URL): Promise<SiteRules> {
    return this.#facts.ignore ? anything : this.#rules(url.origin)
  }

  /** Whoever does not follow its rules may still read where the sitemaps are. */
  async sitemapsOf(origin: string): Promise<readonly string[]> {
    return (await this.#rules(origin)).sitemaps
  }

  #rules(origin: string): Promise<SiteRules> {
    let rules = this.#known.get(origin)
    if (!rules) {
      if (this.#known.size >= mostKnown) this.#known.delete(this.#known.keys().next().value!)
      this.#known.set(origin, (rules = this.#ask(origin)))
    }
    return rules
  }

  async #ask(origin: string): Promise<SiteRules> {
    const { signal, onWarning, ignore, egress, answers } = this.#facts
    const address = `${origin}/robots.txt`
    const kept = answers.site(address) as { text: string } | undefined
    if (kept) return rulesOf(address, kept.text)
    try {
      const deadline = { ms: limits.crawl.robotsMs, error: 'it does not answer', signal, cooperative: true }
      const text = await withDeadline((inner) => ask(address, egress, inner), deadline)
      answers.keepSite(address, { text })
      return rulesOf(address, text)
    } catch (error) {
      signal.throwIfAborted()
      if (!ignore)
        onWarning(`${address} could not be read (${(error as Error).message}): everything is taken as allowed`)
      return anything
    }
  }
}

/** @throws BaxError when there is no telling what it says */
async function ask(address: string, egress: Egress, signal: AbortSignal): Promise<string> {
  const { status, bytes, headers } = await fetchPage(address, {
    userAgent: httpUserAgent,
    egress,
    signal,
    admit: () => {},
  })
  if (status >= 500) throw new BaxError('server_error', `it answered ${status}`)
  if (status >= 400) return ''
  const start = bytes.subarray(0, limits.crawl.robotsBytes)
  const { text } = await decodeText(start, headers.get('content-type'), { declares: false })
  return text
}

function rulesOf(address: string, text: string): SiteRules {
  const robots = parse(address, text)
  const delay = Math.min(robots.getCrawlDelay(agent) ?? 0, limits.crawl.crawlDelaySecs)
  return {
    allows: (url) => robots.isAllowed(url, agent) ?? true,
    delayMs: delay > 0 ? delay * 1000 : 0,
    sitemaps: robots.getSitemaps(),
  }
}
