/** Visits one page of a crawl, with politeness and retries. */
import { asBaxError } from '../../core/errors/errors.ts'
import type { LoadedPage } from '../scrape/loaded-page.ts'
import type { ScrapePlan } from '../scrape/plan.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import { TimeBudget } from './pacing/budget.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import { type HostGate, HostGates } from './pacing/host-gate.ts'
import type { Robots } from './queue/robots.ts'
import { checkStatus, waitForRetry } from './pacing/retry.ts'
import type { LoadedVisit, PageLoader, UnrenderedError, VisitedPage } from './load-page.ts'
import type { RunFacts } from './run.ts'

export interface FailedVisit {
  readonly ok: false
  readonly blocked: boolean
  readonly code: string
  readonly error: string
  readonly status?: number
  /** The fetched page if only rendering failed. */
  readonly fetched?: LoadedVisit
}

export type Visited = VisitedPage | FailedVisit

export interface VisitorFacts extends Pick<RunFacts, 'plan' | 'answers' | 'log'> {
  readonly loader: PageLoader
  readonly robots: Robots
  readonly signal: AbortSignal
}

export const blockedByRobots: FailedVisit = { ok: false, blocked: true, code: 'robots_blocked', error: 'robots.txt does not allow it' } // prettier-ignore

export class Visitor {
  readonly #facts: VisitorFacts
  readonly #gates = new HostGates()

  constructor(facts: VisitorFacts) {
    this.#facts = facts
  }

  /** Visits a queued URL. Rejects only with the reason of the crawl's signal. */
  async visit(waiting: QueuedUrl, force?: 'browser'): Promise<Visited> {
    const { loader, robots, plan, signal, log } = this.#facts
    const { url, depth } = waiting
    const address = new URL(url)
    const rules = await robots.rulesFor(address)
    if (!rules.allows(url)) return blockedByRobots
    const gate = this.#gates.of(address)
    gate.setDelay(rules.delayMs)
    const scrape = plan.page(url)
    try {
      const loaded = await this.#loadWithRetries(waiting, scrape, gate, force)
      if (!(await this.#allows(loaded.page, { address, depth }))) return blockedByRobots
      const audit = await loader.audit(scrape, url, loaded)
      return await loader.write(scrape, { ...loaded, ...(audit && { audit }) })
    } catch (error) {
      signal.throwIfAborted()
      const failure = failureOf(error)
      if (failure.fetched && !(await this.#allows(failure.fetched.page, { address, depth }))) return blockedByRobots
      // Internal errors fail only this page, and are logged.
      if (failure.code === 'internal_error') log('error', 'a page could not be crawled', { url, error: String((error as Error).stack) }) // prettier-ignore
      return failure
    }
  }

  /** Returns whether robots.txt allows the page that a URL has redirected to. */
  async #allows({ url }: LoadedPage, { address, depth }: { address: URL; depth: number }): Promise<boolean> {
    const { robots, plan } = this.#facts
    const final = crawlableUrl(url) ?? address
    // Redirects to hosts outside the crawl are rejected later for that reason.
    const { allow_external_links: anywhere, allow_subdomains: subdomains } = plan.input
    const needsCheck = final.origin === address.origin || depth === 0 || anywhere || subdomains
    return !needsCheck || (await robots.rulesFor(final)).allows(final.href)
  }

  async #loadWithRetries({ url, depth }: QueuedUrl, scrape: ScrapePlan, gate: HostGate, force: 'browser' | undefined) {
    const { loader, answers, signal } = this.#facts
    const budget = new TimeBudget(scrape, signal)
    for (let attempt = 0; ; attempt++) {
      // Stored responses need no request.
      const release = answers.has(url) ? () => {} : await gate.enter(signal)
      try {
        const loaded = await loader.load(scrape, url, budget, force)
        checkStatus(loaded.page)
        gate.succeeded()
        return loaded
      } catch (error) {
        release()
        signal.throwIfAborted()
        await waitForRetry(asBaxError(error), { attempt, gate, left: budget.leftMs, isStart: depth === 0, signal })
      } finally {
        release()
      }
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
export function weightOf(visited: Visited | 'planned'): number {
  if (visited === 'planned') return 0
  if (!visited.ok) return treeWeight(visited.fetched?.page)
  const { markdown = '', html = '', rawHtml = '', screenshot = '' } = visited.answer.data ?? {}
  const trees = treeWeight(visited.page) + treeWeight(visited.fetched) + treeWeight(visited.audit)
  return markdown.length + html.length + rawHtml.length + screenshot.length + trees
}

/** A page as a tree takes several times the memory of its text. */
const treeWeight = (page: LoadedPage | undefined): number =>
  page?.reading ? page.reading.size : (page?.document.raw?.length ?? 0) * 4
