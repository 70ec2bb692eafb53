/** Visits one page on a worker, and returns everything that the coordinator may need to finish it. */
import { deserialize, serialize } from 'node:v8'
import { asBaxError, type BaxError } from '../../../core/errors/errors.ts'
import type { EarlierPages } from '../../../engine/crawl/earlier.ts'
import type { CrawlPlan } from '../../../engine/crawl/plan.ts'
import { LocalPages } from '../../../engine/crawl/pages/local-pages.ts'
import { isAudited, type LoadedVisit, type UnrenderedError } from '../../../engine/crawl/pages/page-source.ts'
import type { HostGate } from '../../../engine/crawl/pacing/host-gate.ts'
import { TimeBudget } from '../../../engine/crawl/pacing/budget.ts'
import { crawlableUrl } from '../../../engine/crawl/queue/url-identity.ts'
import { fetchedCodec } from '../../../engine/crawl/store/response-cache.ts'
import type { SiteSummary } from '../../../engine/extract/main-content/site/site-memory.ts'
import { showsMore } from '../../../engine/render/decide/difference.ts'
import { CrawlPolicy, isSampled } from '../../../engine/render/decide/fetch-or-render.ts'
import type { LoadedPage, VisitResponses } from '../../../engine/scrape/loaded-page.ts'
import type { PageScraper } from '../../../engine/scrape/scraper.ts'
import { type StoredForm, type StoredVisit, storedError, type VisitJob } from './visit-job.ts'

interface VisitContext {
  readonly plan: CrawlPlan
  readonly scraper: PageScraper
  /** Pages of the crawl to compare with. */
  readonly earlier?: EarlierPages | undefined
  /** Limits the pages of the crawl that this worker renders at the same time. */
  readonly tabs: HostGate
  readonly signal: AbortSignal
  /** Responses of the fetched form, to compare it with. */
  readonly kept?: Buffer | undefined
  /** Summary of other pages of the site. */
  readonly site?: SiteSummary | undefined
}

export interface VisitOutcome {
  readonly visit: StoredVisit
  /** Responses of the fetched form, if the coordinator may have it compared later. */
  readonly kept?: Buffer
  /** Set if the visit failed because this machine has no browser, and nothing was done with the page. */
  readonly unavailable?: BaxError
}

type Loaded = LoadedVisit<LoadedPage>

/** Visits a page. Failures of the page are part of the result. @throws the reason of the signal */
export async function visitPage(job: VisitJob, context: VisitContext): Promise<VisitOutcome> {
  const { plan, scraper, earlier, tabs, signal, site } = context
  const responses = new Responses(context.kept)
  const pages = new LocalPages({ plan, scraper, earlier, tabs, signal, siteOf: () => site, answersOf: () => responses })
  const budget = new TimeBudget(plan.page(job.url), signal)
  if (job.leftMs !== undefined) budget.leftMs = job.leftMs
  const before = budget.leftMs
  const spentMs = () => before - budget.leftMs
  try {
    if (job.kind === 'render') return { visit: { spentMs: 0, page: await renderedForm(job, pages, budget) } }
    const policy = policyOf(job)
    const loaded = await pages.load(job.url, { policy, budget, force: job.kind === 'browser' ? 'browser' : undefined })
    const visit = { spentMs: spentMs(), ...(await storedVisit(job.url, loaded, pages, signal)) }
    return { visit, ...(isComparedLater(loaded, visit, policy) && { kept: responses.pack() }) }
  } catch (error) {
    signal.throwIfAborted()
    const { fetched } = error as Partial<UnrenderedError>
    const form = fetched && (await formOf(job.url, fetched as Loaded, pages))
    const failed = asBaxError(error)
    const failure = storedError(failed)
    const visit = {
      spentMs: spentMs(),
      failure,
      ...(form && { page: form }),
      ...(fetched?.kind && { kind: fetched.kind }),
    }
    return { visit, ...(failed.unavailable && { unavailable: failed }) }
  }
}

const policyOf = ({ url, hints }: VisitJob): CrawlPolicy =>
  hints ? CrawlPolicy.of(new URL(url).host, hints) : new CrawlPolicy()

/** Whether the coordinator may have a fetched page compared, because it is the first of its kind or in the sample. */
const isComparedLater = (
  { page, kind }: Loaded,
  { audit }: Omit<StoredVisit, 'spentMs'>,
  policy: CrawlPolicy,
): boolean => kind !== undefined && page.render === 'http' && !audit && (policy.isFirst(kind) || isSampled(page.url))

async function storedVisit(
  url: string,
  loaded: Loaded,
  pages: LocalPages,
  signal: AbortSignal,
): Promise<Omit<StoredVisit, 'spentMs'>> {
  const { kind, fetched, page } = loaded
  const form = await formOf(url, loaded, pages)
  if (fetched) {
    const comparison = (await pages.compare(url, { fetched, rendered: page, isPromised: true })) ?? null
    return {
      kind: kind!,
      page: { ...form, comparison },
      fetched: await formOf(url, { page: fetched, kind: kind! }, pages),
    }
  }
  const audit = isAudited(loaded) && isSamePage(url, page) ? await auditOf(url, page, pages, signal) : undefined
  return { ...(kind && { kind }), page: form, ...(audit !== undefined && { audit }) }
}

/** A page behind a redirect is only audited once the coordinator knows that robots.txt allows it. */
const isSamePage = (url: string, page: LoadedPage): boolean => crawlableUrl(page.url)?.href === url

async function auditOf(
  url: string,
  page: LoadedPage,
  pages: LocalPages,
  signal: AbortSignal,
): Promise<StoredForm | null> {
  try {
    return await comparedForm(url, page, await pages.render(url), pages)
  } catch {
    signal.throwIfAborted()
    return null
  }
}

async function renderedForm({ url, compare }: VisitJob, pages: LocalPages, budget: TimeBudget): Promise<StoredForm> {
  const rendered = await pages.render(url)
  if (!compare) return formOf(url, { page: rendered }, pages)
  const { page } = await pages.load(url, { policy: new CrawlPolicy(), budget, force: 'http' })
  return comparedForm(url, page, rendered, pages)
}

/** Returns the rendered form with its comparison; its text is only written if it may replace the fetched form. */
async function comparedForm(
  url: string,
  fetched: LoadedPage,
  rendered: LoadedPage,
  pages: LocalPages,
): Promise<StoredForm> {
  const comparison = (await pages.compare(url, { fetched, rendered, isPromised: false })) ?? null
  if (comparison && showsMore(comparison, () => false))
    return { ...(await formOf(url, { page: rendered }, pages)), comparison }
  return { url: rendered.url, render: rendered.render, comparison, written: { error: notWritten } }
}

const notWritten = {
  code: 'internal_error',
  error: 'a page that shows no more than the fetched one was requested',
} as const

async function formOf(url: string, { page, kind }: Loaded, pages: LocalPages): Promise<StoredForm> {
  const hasText = kind && page.render === 'http' && pages.hasText(page)
  return {
    url: page.url,
    render: page.render,
    written: await writtenOf(url, page, pages),
    ...(hasText !== undefined && { hasText }),
  }
}

async function writtenOf(url: string, page: LoadedPage, pages: LocalPages): Promise<StoredForm['written']> {
  try {
    const { final, ...written } = await pages.write(url, page)
    return { final: final.href, ...written }
  } catch (error) {
    return { error: storedError(asBaxError(error)) }
  }
}

/** The responses of one visit: kept ones are repeated, and new ones are noted. */
class Responses implements VisitResponses {
  readonly #known = new Map<string, ReturnType<typeof fetchedCodec.pack>>()

  constructor(kept: Buffer | undefined) {
    if (kept) this.#known = deserialize(kept) as Map<string, ReturnType<typeof fetchedCodec.pack>>
  }

  async fetched(url: string, ask: Parameters<VisitResponses['fetched']>[1]) {
    const known = this.#known.get(url)
    if (known) return fetchedCodec.unpack(known[0], Buffer.from(known[1]))
    const answer = await ask()
    this.#known.set(url, fetchedCodec.pack(answer))
    return answer
  }

  rendered(ask: Parameters<VisitResponses['rendered']>[0]) {
    return ask()
  }

  pack(): Buffer {
    return serialize(this.#known)
  }
}
