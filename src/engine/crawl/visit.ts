/** Visits one page of a crawl, with politeness and retries. */
import { asBaxError } from '../../core/errors/errors.ts'
import type { CrawlPolicy } from '../render/decide/fetch-or-render.ts'
import { isRefused } from '../../core/shapes/read/terms.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import { TimeBudget } from './pacing/budget.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import { type HostGate, HostGates } from './pacing/host-gate.ts'
import { signalRefusal } from './queue/robots-terms.ts'
import type { Robots, SiteRules } from './queue/robots.ts'
import { waitForRetry } from './pacing/retry.ts'
import type { PageDecisions, VisitedPage } from './decide-page.ts'
import type { LoadedVisit, PageForm, PageSource, UnrenderedError } from './pages/page-source.ts'
import type { RunFacts } from './run-facts.ts'

export interface FailedVisit {
  readonly ok: false
  readonly blocked: boolean
  /** Whether the page was not requested, because robots.txt could not be read. */
  readonly refused?: true
  readonly code: string
  readonly error: string
  readonly status?: number
  /** Set when the page is skipped for a content signal of its site. */
  readonly skipped?: 'content_signal'
  /** The fetched page if only rendering failed. */
  readonly fetched?: LoadedVisit
}

export type Visited = VisitedPage | FailedVisit

export interface VisitorFacts extends Pick<RunFacts, 'plan' | 'answers' | 'log' | 'hosts'> {
  readonly source: PageSource
  readonly policy: CrawlPolicy
  readonly decisions: PageDecisions
  readonly robots: Robots
  readonly signal: AbortSignal
}

const blockedByRobots: FailedVisit = {
  ok: false,
  blocked: true,
  code: 'robots_blocked',
  error: 'robots.txt does not allow it',
}

const refusedBySignal: FailedVisit = {
  ok: false,
  blocked: false,
  skipped: 'content_signal',
  code: 'robots_blocked',
  error: signalRefusal,
}

/** Returns the result for a URL that the rules of its site do not allow. */
export function refusalOf(
  url: string,
  rules: SiteRules,
  respected: readonly string[] | undefined,
): FailedVisit | undefined {
  const { unreachable } = rules
  if (!rules.allows(url))
    return unreachable
      ? { ...failureOf(unreachable), refused: true, error: `robots.txt could not be read: ${unreachable.message}` }
      : blockedByRobots
  return isRefused(respected, rules.terms.signals) ? refusedBySignal : undefined
}

export class Visitor {
  readonly #facts: VisitorFacts
  readonly #gates = new HostGates()

  constructor(facts: VisitorFacts) {
    this.#facts = facts
  }

  /** Visits a queued URL. Rejects only with the reason of the crawl's signal. */
  async visit(waiting: QueuedUrl, force?: 'browser'): Promise<Visited> {
    const { decisions, robots, signal, log, plan } = this.#facts
    const { url, depth } = waiting
    const address = new URL(url)
    const rules = await robots.rulesFor(address)
    const refusal = refusalOf(url, rules, plan.input.respect_signals)
    if (refusal) return refusal
    const gate = this.#gates.of(address)
    gate.setDelay(rules.delayMs)
    try {
      const loaded = await this.#loadWithRetries(waiting, gate, force)
      if (!(await this.#allows(loaded.page, { address, depth }))) return blockedByRobots
      const audit = await decisions.audit(url, loaded)
      return await decisions.write(url, { ...loaded, ...(audit && { audit }) })
    } catch (error) {
      signal.throwIfAborted()
      const failure = failureOf(error)
      if (failure.fetched && !(await this.#allows(failure.fetched.page, { address, depth }))) return blockedByRobots
      // Internal errors fail only this page, and are logged.
      if (failure.code === 'internal_error')
        log('error', 'a page could not be crawled', { url, error: String((error as Error).stack) })
      return failure
    }
  }

  /** Returns whether robots.txt allows the page that a URL has redirected to. */
  async #allows({ url }: PageForm, { address, depth }: { address: URL; depth: number }): Promise<boolean> {
    const { robots, plan } = this.#facts
    const final = crawlableUrl(url) ?? address
    // Redirects to hosts outside the crawl are rejected later for that reason.
    const { allow_external_links: anywhere, allow_subdomains: subdomains } = plan.input
    const needsCheck = final.host === address.host || depth === 0 || anywhere || subdomains
    return !needsCheck || (await robots.rulesFor(final)).allows(final.href)
  }

  async #loadWithRetries({ url, depth }: QueuedUrl, gate: HostGate, force: 'browser' | undefined) {
    const { source, policy, plan, answers, signal } = this.#facts
    const budget = new TimeBudget(plan.page(url), signal)
    for (let attempt = 0; ; attempt++) {
      // Stored responses need no request.
      const release = answers.has(url) ? () => {} : await this.#enter(gate)
      try {
        const loaded = await source.load(url, { policy, budget, force })
        gate.succeeded()
        return loaded
      } catch (error) {
        release()
        signal.throwIfAborted()
        // Actions may have changed the site.
        if (plan.input.list && plan.input.list.actions.length > 0) throw error
        await waitForRetry(asBaxError(error), {
          attempt,
          gate,
          left: budget.leftMs,
          isStart: depth === 0 && !plan.list,
          signal,
        })
      } finally {
        release()
      }
    }
  }

  /** Waits for a slot of the host in this crawl, and in all others that share its limits. */
  async #enter(gate: HostGate): Promise<() => void> {
    const { hosts, signal } = this.#facts
    const release = await gate.enter(signal)
    if (!hosts) return release
    try {
      const releaseShared = await hosts.enter(gate, signal)
      return () => [release, releaseShared].forEach((free) => free())
    } catch (error) {
      release()
      throw error
    }
  }
}

function failureOf(thrown: unknown): FailedVisit {
  const error = asBaxError(thrown)
  const status = (error.details as { status_code?: number } | undefined)?.status_code
  const { fetched } = error as Partial<UnrenderedError>
  return {
    ok: false,
    blocked: false,
    code: error.code,
    error: error.message,
    ...(status !== undefined && { status }),
    ...(fetched && { fetched }),
  }
}

/** Returns the memory that a visited page uses while it waits for earlier ones, in characters. */
export function weightOf(visited: Visited | 'planned', source: PageSource): number {
  const weigh = (form: PageForm | null | undefined) => (form ? source.weightOf(form) : 0)
  if (visited === 'planned') return 0
  if (!visited.ok) return weigh(visited.fetched?.page)
  const { markdown = '', html = '', rawHtml = '', screenshot = '' } = visited.answer.data ?? {}
  const forms = weigh(visited.page) + weigh(visited.fetched) + weigh(visited.audit)
  return markdown.length + html.length + rawHtml.length + screenshot.length + forms
}
