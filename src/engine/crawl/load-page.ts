/**
 * Loads the pages of a crawl over HTTP or in a browser, as the policy in `render/decide/fetch-or-render.ts` demands.
 * Pages are loaded ahead of time (`load`), and corrected when it is their turn (`finish`).
 */
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { renderedAtOnce } from '../render/browser/concurrency.ts'
import { showsMore } from '../render/decide/difference.ts'
import { type CrawlPolicy, isSampled, type PageKind, type RenderingFacts, requestedMode } from '../render/decide/fetch-or-render.ts' // prettier-ignore
import { templateOf } from '../render/decide/template.ts'
import { contentOf } from '../scrape/content/content.ts'
import { isBrowserMissing, withoutBrowser, withRenderFailure } from '../scrape/load-page.ts'
import { isReadable, linksIn, type LoadedPage, renderReason } from '../scrape/loaded-page.ts'
import type { ScrapePlan } from '../scrape/plan.ts'
import { isLarge, type WriteCondition } from '../scrape/reading.ts'
import { present } from '../scrape/documents/document.ts'
import { TimeBudget } from './pacing/budget.ts'
import { HostGate } from './pacing/host-gate.ts'
import { crawlableUrl } from './queue/url-identity.ts'
import type { RunFacts } from './run.ts'
import type { FailedVisit, Visited } from './visit.ts'

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

/** A page as it goes into `data`, with facts for the policy. */
export interface FinishedPage {
  readonly page: VisitedPage
  readonly facts?: RenderingFacts
}

/** Returns whether the crawl has already found a URL. */
type IsKnown = (url: URL) => boolean

export interface LoaderFacts extends Pick<RunFacts, 'plan' | 'scraper' | 'answers'> {
  readonly policy: CrawlPolicy
  readonly signal: AbortSignal
}

export class PageLoader {
  readonly #facts: LoaderFacts
  readonly #tabs = new HostGate(renderedAtOnce)

  constructor(facts: LoaderFacts) {
    this.#facts = facts
  }

  /** Loads a page with the policy as it is at this time; `visit` is its URL in the queue, the key of stored responses. */
  async load(scrape: ScrapePlan, visit: string, budget: TimeBudget, force?: 'browser'): Promise<LoadedVisit> {
    const { scraper, policy, answers } = this.#facts
    const requested = requestedMode(scrape)
    if (requested === 'browser') return { page: await this.#render(scrape, visit, budget) }
    const { page, isHtml } = await budget.spend((signal) =>
      scraper.fetch(scrape, { signal, answers: answers.of(visit), ...this.#reading(scrape, requested) }),
    )
    const kind = isHtml && !requested ? kindOf(page) : undefined
    if (!kind || page.status === 429 || page.status >= 500) return { page }
    if (force !== 'browser' && policy.mode(kind) !== 'browser') return { page, kind }
    const isUnproven = policy.isUnproven(kind)
    try {
      const rendered = await this.#render(scrape, visit, budget)
      return { page: rendered, kind, ...(isUnproven && { fetched: page }) }
    } catch (error) {
      if (isBrowserMissing(error as BaxError) && isReadable(page)) return { page: withoutBrowser(page), kind }
      this.#facts.signal.throwIfAborted()
      throw new UnrenderedError(asBaxError(error), { page, kind })
    }
  }

  /** Renders a fetched page of the sample for comparison; undefined if that fails. */
  async audit(scrape: ScrapePlan, visit: string, { page, kind }: LoadedVisit): Promise<LoadedPage | undefined> {
    if (!kind || page.render === 'browser' || !isSampled(page.url)) return undefined
    const rendered = await this.#tryRender(scrape, visit)
    return rendered instanceof BaxError ? undefined : rendered
  }

  /** Converts a loaded page to the requested formats. */
  async write(scrape: ScrapePlan, loaded: LoadedVisit): Promise<VisitedPage> {
    const { plan, scraper, signal } = this.#facts
    const { page } = loaded
    const start = performance.now()
    const answer = plan.input.dry_run
      ? planned(scrape, page)
      : (page.reading?.answer ??
        (await new TimeBudget(scrape, signal).spend((inner) => scraper.write(scrape, page, start, inner))))
    const final = crawlableUrl(page.url) ?? new URL(scrape.url)
    return { ok: true, ...loaded, final, links: linksIn(page), answer: withoutRunValues(answer) }
  }

  /** Applies the current policy to a page, which may have been loaded before earlier pages were finished. */
  async finish(url: string, visited: Visited, isKnown: IsKnown): Promise<FinishedPage | FailedVisit> {
    if (!visited.ok) return this.#finishUnrendered(url, visited)
    const { kind, page, fetched } = visited
    if (!kind) return { page: visited }
    const { policy } = this.#facts
    const mode = policy.mode(kind)
    if (page.render === 'browser') {
      const isCompared = fetched && policy.isUnproven(kind) && areComparable(fetched, page)
      const more = isCompared ? await this.#showsMore(url, [fetched, page], true, isKnown) : undefined
      if (mode === 'http' && fetched) return this.#finished(url, fetched, { ...kind, render: 'http' })
      return { page: visited, facts: { ...kind, render: 'browser', ...(more !== undefined && { more }) } }
    }
    return mode === 'browser' ? this.#finishRendered(url, visited, kind) : this.#finishAudited(url, visited, kind, isKnown) // prettier-ignore
  }

  /** Keeps a page that could not be rendered as it was fetched, with a warning if a browser was needed. */
  async #finishUnrendered(url: string, visit: FailedVisit): Promise<FinishedPage | FailedVisit> {
    if (!visit.fetched) return visit
    const { page, kind } = visit.fetched
    if (kind && this.#facts.policy.mode(kind) !== 'browser')
      return this.#finished(url, page, { ...kind, render: 'http' })
    const warned = withRenderFailure(page, visit.error)
    return warned ? { page: await this.write(this.#facts.plan.page(url), { page: warned }) } : visit
  }

  async #finishRendered(url: string, visited: VisitedPage, kind: PageKind): Promise<FinishedPage | FailedVisit> {
    const rendered = await this.#tryRender(this.#facts.plan.page(url), url)
    if (!(rendered instanceof BaxError)) return this.#finished(url, rendered, { ...kind, render: 'browser' })
    // The warning about the missing browser is already in the page.
    if (isBrowserMissing(rendered)) return { page: visited }
    const { message: error, code } = rendered
    return this.#finishUnrendered(url, { ok: false, blocked: false, error, code, fetched: { page: visited.page } })
  }

  /** Compares the first page of a kind, and those of the sample, with their rendered form. */
  async #finishAudited(url: string, visited: VisitedPage, kind: PageKind, isKnown: IsKnown): Promise<FinishedPage> {
    const { policy, plan } = this.#facts
    const { page } = visited
    const rendered = visited.audit ?? (policy.isFirst(kind) ? await this.#tryRender(plan.page(url), url) : undefined)
    if (!rendered || rendered instanceof BaxError || !rendered.rendered?.isPage || !areComparable(page, rendered))
      return { page: visited, facts: { ...kind, render: 'http' } }
    const more = await this.#showsMore(url, [page, rendered], false, isKnown)
    if (!more) return { page: visited, facts: { ...kind, render: 'http', more, audited: true } }
    return this.#finished(url, rendered, { ...kind, render: 'browser', more, audited: true })
  }

  async #finished(url: string, page: LoadedPage, facts: RenderingFacts): Promise<FinishedPage> {
    return { page: await this.write(this.#facts.plan.page(url), { page }), facts }
  }

  async #showsMore(
    url: string,
    [fetched, rendered]: readonly [LoadedPage, LoadedPage],
    isPromised: boolean,
    isKnown: IsKnown,
  ): Promise<boolean> {
    const { formats, input } = this.#facts.plan.page(url)
    const parts = { onlyMain: input.only_main_content, inlineImages: false, headline: true }
    const { tree } = await contentOf(rendered.document, parts)
    return showsMore(
      { tree: fetched.document.tree, links: linksIn(fetched) },
      { tree: rendered.document.tree, links: linksIn(rendered), url: rendered.url, content: tree.root },
      { isPromised, allLinks: formats.has('links'), isKnown },
    )
  }

  /** Renders a page. Time spent waiting for a tab does not count towards its timeout. @throws BaxError */
  async #render(scrape: ScrapePlan, visit: string, budget: TimeBudget): Promise<LoadedPage> {
    const { scraper, signal: crawl } = this.#facts
    const answers = this.#facts.answers.of(visit)
    const release = await this.#tabs.enter(crawl)
    try {
      return await budget.spend((signal, deadline) => scraper.render(scrape, { signal, deadline, answers }))
    } finally {
      release()
    }
  }

  async #tryRender(scrape: ScrapePlan, visit: string): Promise<LoadedPage | BaxError> {
    const { signal } = this.#facts
    try {
      return await this.#render(scrape, visit, new TimeBudget(scrape, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof BaxError) return error
      throw error
    }
  }

  /** Returns what worker threads should produce from HTML, and whether the crawl is long enough for all of it. */
  #reading({ url }: ScrapePlan, requested: 'http' | undefined): { all: boolean; write: WriteCondition } {
    const { plan, policy } = this.#facts
    const all = plan.input.limit >= limits.reading.worthwhile
    if (plan.input.dry_run) return { all, write: 'never' }
    return { all, write: requested ? 'always' : policy.ignoredReasons(new URL(url).host) }
  }
}

/** Whether both are small enough to compare on this thread: larger ones were read in a worker thread. */
const areComparable = (fetched: LoadedPage, rendered: LoadedPage): boolean =>
  [fetched, rendered].every(({ reading }) => !isLarge({ length: reading?.size ?? 0 }))

/** Thrown when a fetched page could not be rendered; has the code of its cause. */
export class UnrenderedError extends BaxError {
  readonly fetched: LoadedVisit

  constructor(cause: BaxError, fetched: LoadedVisit) {
    const { code, message, details, retryAfterSecs } = cause
    super(code, message, { cause, ...present({ details, retryAfterSecs }) })
    this.fetched = fetched
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
