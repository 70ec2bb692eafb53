/** Loads the pages of a crawl in this process, over HTTP or in a browser. */
import { asBaxError, type BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ScrapeAnswer } from '../../../core/shapes/scrape.ts'
import { renderedAtOnce } from '../../render/browser/concurrency.ts'
import { compareForms, type Comparison } from '../../render/decide/difference.ts'
import { type CrawlPolicy, type PageKind, requestedMode } from '../../render/decide/fetch-or-render.ts'
import { templateOf } from '../../render/decide/template.ts'
import { contentOf } from '../../scrape/content/content.ts'
import { isBrowserMissing } from '../../scrape/load-page.ts'
import { withAnswerWarning, withoutBrowser, withWarning } from '../../scrape/page-warnings.ts'
import { statusWarning } from '../../scrape/status-warning.ts'
import {
  areComparable,
  isReadable,
  linksIn,
  type LoadedPage,
  renderReason,
  showsText,
  type VisitResponses,
} from '../../scrape/loaded-page.ts'
import type { SiteSummary } from '../../extract/main-content/site/site-memory.ts'
import type { ScrapePlan } from '../../scrape/plan.ts'
import type { WriteCondition } from '../../scrape/reading.ts'
import type { PageScraper } from '../../scrape/scraper.ts'
import { textDocument } from '../../scrape/documents/text.ts'
import { cutWarning } from '../../render/http/decompress.ts'
import type { FetchedPage } from '../../render/http/fetch.ts'
import type { EarlierPage, EarlierPages, Validators } from '../earlier.ts'
import { TimeBudget } from '../pacing/budget.ts'
import { HostGate } from '../pacing/host-gate.ts'
import { checkStatus } from '../pacing/retry.ts'
import type { CrawlPlan } from '../plan.ts'
import { crawlableUrl } from '../queue/url-identity.ts'
import {
  type ComparedForms,
  type LoadedVisit,
  type LoadRequest,
  type PageSource,
  UnrenderedError,
  type WrittenPage,
} from './page-source.ts'

export interface LocalFacts {
  readonly plan: CrawlPlan
  readonly scraper: PageScraper
  /** Returns the stored responses for the visit of a queued URL. */
  readonly answersOf: (url: string) => VisitResponses
  readonly signal: AbortSignal
  /** Pages of an earlier crawl, which are kept if they are unchanged. */
  readonly earlier?: EarlierPages | undefined
  /** Limits the pages rendered at the same time; those of this crawl by default. */
  readonly tabs?: HostGate
  /** Returns what is known about other pages of the site of a queued URL. */
  readonly siteOf: (url: string) => SiteSummary | undefined
}

export class LocalPages implements PageSource {
  readonly #facts: LocalFacts
  readonly #tabs: HostGate

  constructor(facts: LocalFacts) {
    this.#facts = facts
    this.#tabs = facts.tabs ?? new HostGate(renderedAtOnce)
  }

  begin(): void {
    this.#facts.scraper.begin()
  }

  async load(url: string, request: LoadRequest): Promise<LoadedVisit<LoadedPage>> {
    const loaded = await this.#load(url, request)
    checkStatus(loaded.page)
    return loaded
  }

  async #load(url: string, { policy, budget, force }: LoadRequest): Promise<LoadedVisit<LoadedPage>> {
    const { scraper, answersOf } = this.#facts
    const scrape = this.#planOf(url)
    const requested = requestedMode(scrape)
    if (requested === 'browser') return { page: await this.#render(url, budget) }
    const checked = force ? undefined : await this.#recheck(url, scrape, budget)
    if (checked?.kept) return { page: checked.kept }
    const answers = checked?.answers ?? answersOf(url)
    const { isHtml, incomplete, ...fetched } = await budget.spend((signal) =>
      scraper.fetch(scrape, { signal, answers, ...this.#reading(scrape, requested, policy) }),
    )
    const page = incomplete === undefined ? fetched.page : withWarning(fetched.page, incomplete, 'markdown_incomplete')
    const kind = isHtml && !requested ? kindOf(page) : undefined
    if (!kind || page.status === 429 || page.status >= 500) return { page }
    if ((force ?? policy.mode(kind)) !== 'browser') return { page, kind }
    const isUnproven = policy.isUnproven(kind)
    try {
      const rendered = await this.#render(url, budget)
      return { page: rendered, kind, ...(isUnproven && { fetched: page }) }
    } catch (error) {
      if (isBrowserMissing(error as BaxError) && isReadable(page)) return { page: withoutBrowser(page), kind }
      this.#facts.signal.throwIfAborted()
      throw new UnrenderedError(asBaxError(error), { page, kind })
    }
  }

  /**
   * Requests a page of the earlier crawl under the condition that it has changed. Returns the earlier page if it has not,
   * else responses that contain the new one; undefined without an earlier page.
   */
  async #recheck(url: string, scrape: ScrapePlan, budget: TimeBudget) {
    const { scraper, earlier, answersOf } = this.#facts
    const found = await earlier?.find(url)
    // The data of a rendered page may have changed, whatever its HTML says.
    if (!found?.validators || !found.links || found.page.metadata.render !== 'http') return undefined
    const { etag, modified } = found.validators
    const headers = { ...(etag && { 'if-none-match': etag }), ...(modified && { 'if-modified-since': modified }) }
    const fetched = await budget.spend((signal) => scraper.fetchIf(scrape, headers, signal))
    if (fetched.status === 304) return { kept: keptPage(found, fetched) }
    const answers = answersOf(url)
    let isFirst = true
    const first: VisitResponses = {
      fetched: (address, ask) => {
        const request = isFirst && address === scrape.url ? async () => fetched : ask
        isFirst = false
        return answers.fetched(address, request)
      },
      rendered: (ask) => answers.rendered(ask),
    }
    return { answers: first }
  }

  render(url: string): Promise<LoadedPage> {
    return this.#render(url, new TimeBudget(this.#facts.plan.page(url), this.#facts.signal))
  }

  async write(url: string, page: LoadedPage): Promise<WrittenPage> {
    const { plan, scraper, signal } = this.#facts
    const scrape = this.#planOf(url)
    const start = performance.now()
    const { answer, trace } = plan.input.dry_run
      ? { answer: planned(scrape, page) }
      : (page.reading?.written ??
        (await new TimeBudget(scrape, signal).spend((inner) => scraper.write(scrape, page, start, inner))))
    const final = crawlableUrl(page.url) ?? new URL(scrape.url)
    const validators = validatorsOf(page)
    return {
      final,
      links: linksIn(page),
      answer: withoutRunValues(answer),
      ...(validators && { validators }),
      ...(trace && { trace }),
    }
  }

  async compare(
    url: string,
    { fetched, rendered, isPromised }: ComparedForms<LoadedPage>,
  ): Promise<Comparison | undefined> {
    if (!rendered.rendered?.isPage || !areComparable(fetched, rendered)) return undefined
    const { formats, input } = this.#facts.plan.page(url)
    const parts = { onlyMain: input.only_main_content, inlineImages: false, headline: true }
    const { tree } = await contentOf(rendered.document, parts)
    return compareForms(
      { tree: fetched.document.tree, links: linksIn(fetched) },
      { tree: rendered.document.tree, links: linksIn(rendered), url: rendered.url, content: tree.root },
      { isPromised, allLinks: formats.has('links') },
    )
  }

  hasText(page: LoadedPage): boolean {
    return showsText(page)
  }

  /** A page as a tree takes several times the memory of its text. */
  weightOf(page: LoadedPage): number {
    return page.reading ? page.reading.size : (page.document.raw?.length ?? 0) * 4
  }

  /** Renders a page. Time spent waiting for a tab does not count towards its timeout. @throws BaxError */
  async #render(url: string, budget: TimeBudget): Promise<LoadedPage> {
    const { scraper, answersOf, signal: crawl } = this.#facts
    const answers = answersOf(url)
    const release = await this.#tabs.enter(crawl)
    try {
      return await budget.spend((signal, deadline) => scraper.render(this.#planOf(url), { signal, deadline, answers }))
    } finally {
      release()
    }
  }

  /** Returns the plan of a page, with what is known about other pages. */
  #planOf(url: string): ScrapePlan {
    const { plan, siteOf } = this.#facts
    const site = siteOf(url)
    return { ...plan.page(url), ...(site !== undefined && { site }) }
  }

  /** Returns what worker threads should produce from HTML, and whether the crawl is long enough for all of it. */
  #reading(
    { url }: ScrapePlan,
    requested: 'http' | undefined,
    policy: CrawlPolicy,
  ): { all: boolean; write: WriteCondition } {
    const { plan } = this.#facts
    const all = plan.input.limit >= limits.reading.worthwhile
    if (plan.input.dry_run) return { all, write: 'never' }
    return { all, write: requested ? 'always' : policy.ignoredReasons(new URL(url).host) }
  }
}

/** Returns the page of an earlier crawl as if it had been loaded. */
function keptPage({ page, links, trace, final }: EarlierPage, { headers, redirects }: FetchedPage): LoadedPage {
  const answer: ScrapeAnswer = { success: true, data: page }
  return {
    url: final,
    status: page.metadata.status_code ?? 200,
    headers,
    redirects,
    render: 'http',
    warnings: [],
    document: textDocument({ text: '', charset: 'utf-8', url: final }),
    reading: { charset: 'utf-8', size: 0, links: links ?? [], written: { answer, ...(trace && { trace }) } },
  }
}

function validatorsOf({ headers }: LoadedPage): Validators | undefined {
  const [etag, modified] = [headers.get('etag'), headers.get('last-modified')]
  return etag || modified ? { ...(etag && { etag }), ...(modified && { modified }) } : undefined
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
function planned({ input }: ScrapePlan, page: LoadedPage): ScrapeAnswer {
  const { url, status, render, warningCode } = page
  // Fragments of redirects are parts of one page.
  const metadata = { sourceURL: input.url, url: crawlableUrl(url)?.href ?? url, status_code: status, render }
  const answer = { success: true, data: { metadata }, ...statusWarning(page) }
  // Links may be missing.
  return warningCode === 'incomplete_response' ? withAnswerWarning(answer, cutWarning, warningCode) : answer
}
