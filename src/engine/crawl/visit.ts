/**
 * Loads one page over HTTP or in a browser, with retries and politeness. Follows the rendering policy
 * (`decide-rendering.ts`) as it is at this time; `finish-page.ts` corrects the result when it is the page's turn.
 */
import type { Log } from '../../core/config/config.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { renderedAtOnce } from '../render/browser/concurrency.ts'
import { templateOf } from '../render/decide/template.ts'
import { linksOf } from '../scrape/formats/links.ts'
import { isBrowserMissing, isReadable, renderReason, withoutBrowser } from '../scrape/load-page.ts'
import type { LoadedPage } from '../scrape/loaded-page.ts'
import type { ScrapePlan } from '../scrape/plan.ts'
import type { WriteCondition } from '../scrape/reading.ts'
import type { PageSteps } from '../scrape/steps.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import { TimeBudget } from './pacing/budget.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import type { ResponseCache } from './store/response-cache.ts'
import { HostGate, type HostGates } from './pacing/host-gate.ts'
import { isSampled, type RenderingPolicy, type PageKind } from './decide-rendering.ts'
import type { CrawlPlan } from './plan.ts'
import type { Robots } from './queue/robots.ts'
import { checkStatus, waitForRetry } from './pacing/retry.ts'

/** A loaded page, before it is converted to the requested formats. */
export interface LoadedVisit {
  readonly page: LoadedPage
  /** Undefined for content that a browser does not change. */
  readonly kind?: PageKind
  /** The fetched form of a rendered page, if the two may have to be compared. */
  readonly fetched?: LoadedPage
  /** The rendered form of a fetched page, for comparison. */
  readonly audit?: LoadedPage
}

export interface VisitedPage extends LoadedVisit {
  readonly ok: true
  readonly final: URL
  readonly links: readonly string[]
  readonly answer: ScrapeAnswer
}

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

export interface VisitorFacts {
  readonly plan: CrawlPlan
  readonly steps: PageSteps
  readonly robots: Robots
  readonly gates: HostGates
  readonly policy: RenderingPolicy
  readonly answers: ResponseCache
  readonly signal: AbortSignal
  readonly log: Log
}

interface VisitOptions {
  /** URL in the queue, the key of stored responses. */
  readonly visit: string
  readonly gate: HostGate
  readonly isStart: boolean
  readonly force: 'browser' | undefined
}

export const blockedByRobots: FailedVisit = { ok: false, blocked: true, code: 'robots_blocked', error: 'robots.txt does not allow it' } // prettier-ignore

export class Visitor {
  readonly #facts: VisitorFacts
  readonly #tabs = new HostGate(renderedAtOnce)

  constructor(facts: VisitorFacts) {
    this.#facts = facts
  }

  /** Visits a queued URL. Rejects only with the reason of the crawl's signal. */
  async visit({ url, depth }: QueuedUrl, force?: 'browser'): Promise<Visited> {
    const { robots, gates, plan, signal, log } = this.#facts
    const address = new URL(url)
    const rules = await robots.rulesFor(address)
    if (!rules.allows(url)) return blockedByRobots
    const gate = gates.of(address)
    gate.setDelay(rules.delayMs)
    const scrape = plan.page(url)
    try {
      const loaded = await this.#loadWithRetries(scrape, { gate, visit: url, isStart: depth === 0, force })
      if (!(await this.#allows(loaded.page, { address, depth }))) return blockedByRobots
      const audit = await this.#audit(scrape, url, loaded)
      return await this.write(scrape, { ...loaded, ...(audit && { audit }) })
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

  /** Converts a loaded page to the requested formats. */
  async write(scrape: ScrapePlan, loaded: LoadedVisit): Promise<VisitedPage> {
    const { plan, steps, signal } = this.#facts
    const { page } = loaded
    const { reading } = page
    const start = performance.now()
    const answer = plan.input.dry_run
      ? planned(scrape, page)
      : (reading?.answer ??
        (await new TimeBudget(scrape, signal).spend((inner) => steps.write(scrape, page, { signal: inner, start }))))
    const links = reading?.links ?? linksOf(page.document.tree).map(({ href }) => href)
    return {
      ok: true,
      ...loaded,
      final: crawlableUrl(page.url) ?? new URL(scrape.url),
      links,
      answer: withoutRunValues(answer),
    }
  }

  /** Renders a page. Time spent waiting for a tab does not count towards its timeout. @throws BaxError */
  async render(
    scrape: ScrapePlan,
    visit: string,
    budget = new TimeBudget(scrape, this.#facts.signal),
  ): Promise<LoadedPage> {
    const answers = this.#facts.answers.of(visit)
    const release = await this.#tabs.enter(this.#facts.signal)
    try {
      return await budget.spend((signal, deadline) => this.#facts.steps.render(scrape, { signal, deadline, answers }))
    } finally {
      release()
    }
  }

  async #loadWithRetries(scrape: ScrapePlan, { gate, visit, isStart, force }: VisitOptions): Promise<LoadedVisit> {
    const { signal } = this.#facts
    const budget = new TimeBudget(scrape, signal)
    for (let attempt = 0; ; attempt++) {
      // Stored responses need no request.
      const release = this.#facts.answers.has(visit) ? () => {} : await gate.enter(signal)
      try {
        const loaded = await this.#load(scrape, visit, budget, force)
        checkStatus(loaded.page)
        gate.succeeded()
        return loaded
      } catch (error) {
        release()
        signal.throwIfAborted()
        await waitForRetry(asBaxError(error), { attempt, gate, left: budget.leftMs, isStart, signal })
      } finally {
        release()
      }
    }
  }

  async #load(
    scrape: ScrapePlan,
    visit: string,
    budget: TimeBudget,
    force: 'browser' | undefined,
  ): Promise<LoadedVisit> {
    const { steps, policy, plan } = this.#facts
    const answers = this.#facts.answers.of(visit)
    const { render } = plan.input
    if (render === 'browser' || (render === 'auto' && scrape.browserOnly))
      return { page: await this.render(scrape, visit, budget) }
    const { page, isHtml } = await budget.spend((signal) =>
      steps.fetch(scrape, { signal, answers, ...this.#reading(scrape) }),
    )
    const kind = isHtml && render === 'auto' ? kindOf(page) : undefined
    if (!kind || page.status === 429 || page.status >= 500) return { page }
    if (force === 'browser' || policy.mode(kind) === 'browser')
      return this.#renderFetched(scrape, visit, budget, { page, kind })
    return { page, kind }
  }

  /** Returns what worker threads should produce from HTML, and whether the crawl is long enough for all of it. */
  #reading({ url }: ScrapePlan): { all: boolean; write: WriteCondition } {
    const { plan, policy } = this.#facts
    const { limit, dry_run: dry, render } = plan.input
    const all = limit >= limits.reading.worthwhile
    if (dry) return { all, write: 'never' }
    return { all, write: render === 'auto' ? policy.ignoredReasons(new URL(url).host) : 'always' }
  }

  /** Renders a page of the sample for comparison. */
  async #audit(scrape: ScrapePlan, visit: string, { page, kind }: LoadedVisit): Promise<LoadedPage | undefined> {
    if (!kind || page.render === 'browser' || !isSampled(page.url)) return undefined
    try {
      return await this.render(scrape, visit)
    } catch (error) {
      this.#facts.signal.throwIfAborted()
      // The fetched page is used if it cannot be rendered.
      if (error instanceof BaxError) return undefined
      throw error
    }
  }

  async #renderFetched(
    scrape: ScrapePlan,
    visit: string,
    budget: TimeBudget,
    fetched: LoadedVisit,
  ): Promise<LoadedVisit> {
    const { kind } = fetched
    const isUnproven = kind !== undefined && this.#facts.policy.isUnproven(kind)
    try {
      const page = await this.render(scrape, visit, budget)
      return { page, ...(kind && { kind }), ...(isUnproven && { fetched: fetched.page }) }
    } catch (error) {
      if (isBrowserMissing(error as BaxError) && isReadable(fetched.page))
        return { ...fetched, page: withoutBrowser(fetched.page) }
      this.#facts.signal.throwIfAborted()
      throw new UnrenderedError(asBaxError(error), fetched)
    }
  }
}

/** Thrown when a fetched page could not be rendered; has the code of its cause. */
class UnrenderedError extends BaxError {
  readonly fetched: LoadedVisit

  constructor(cause: BaxError, fetched: LoadedVisit) {
    super(cause.code, cause.message, {
      cause,
      ...(cause.details !== undefined && { details: cause.details }),
      ...(cause.retryAfterSecs !== undefined && { retryAfterSecs: cause.retryAfterSecs }),
    })
    this.fetched = fetched
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

function kindOf(page: LoadedPage): PageKind | undefined {
  const { document, url, reading } = page
  const template = reading ? reading.template : templateOf(document.tree.root)
  if (template === undefined) return undefined
  const reason = renderReason(page)
  return { host: new URL(url).host, template, ...(reason && { reason }) }
}

/** Removes values that differ between runs, so that the same site gives the same crawl. */
function withoutRunValues(answer: ScrapeAnswer): ScrapeAnswer {
  if (!answer.data) return answer
  const { scrape_id: _id, duration_ms: _time, ...rest } = answer.data.metadata
  const metadata = { ...rest, ...(rest.url && { url: withoutCredentials(rest.url) }) }
  return { ...answer, data: { ...answer.data, metadata } }
}

function withoutCredentials(href: string): string {
  const url = new URL(href)
  if (url.username === '' && url.password === '') return href
  url.username = ''
  url.password = ''
  return url.href
}

/** Returns the entry of a page that a dry run has loaded but not scraped. */
const planned = ({ input }: ScrapePlan, { url, status, render }: LoadedPage): ScrapeAnswer => ({
  success: true,
  data: { metadata: { sourceURL: input.url, url: withoutCredentials(url), status_code: status, render } },
})
