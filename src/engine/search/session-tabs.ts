/** Scrapes pages in new tabs of a session, with its cookies, user agent and network. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { APIResponse, Page, Request, Response } from 'playwright'
import type { Log } from '../../core/config/config.ts'
import { untilLoaded, watchNavigations } from '../../commands/wait/navigation-watch.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { retryTransient } from '../../core/errors/transient-errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { freeToLeave } from '../browser/page/hung-script.ts'
import { pageFunction } from '../browser/page/page-function.ts'
import { withReason } from '../browser/page/net-reason.ts'
import { toBaxError } from '../browser/page/playwright-errors.ts'
import type { LiveSession } from '../browser/ports/session.ts'
import { ResponseHeaders } from '../egress/response-headers.ts'
import { readingReserve } from '../render/reading-reserve.ts'
import { isText, kindOf, kindOfHeaders } from '../render/http/content-kind.ts'
import { fetchPage, type FetchedPage, type Redirect } from '../render/http/fetch.ts'
import readScript from '../render/page/read.page.ts?inline'
import type { PageReading } from '../render/page/read.page.ts'
import brandingScript from '../scrape/formats/branding.page.ts?inline'
import { htmlDocument, readDocument } from '../scrape/documents/read.ts'
import { readInWorker } from '../scrape/lazy-document.ts'
import type { LoadContext } from '../scrape/load-page.ts'
import { factsOf, type LoadedPage } from '../scrape/loaded-page.ts'
import { withWarning } from '../scrape/page-warnings.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { ScrapePlan } from '../scrape/plan.ts'
import type { ScrapeContext } from './contents.ts'

export interface TabContext {
  readonly scraper: Pick<LazyScraper, 'scrapeFrom'>
  readonly signal: AbortSignal
  /** Deadline for the session to become free, as a `performance.now()` time. */
  readonly deadline: number
  readonly log: Log
}

/** Runs `work` with a scrape function that opens tabs of the session, whose commands wait until it has finished. */
export async function inSessionTabs<T>(
  session: LiveSession,
  { scraper, signal, deadline, log }: TabContext,
  work: (scrape: ScrapeContext['scrape']) => Promise<T>,
): Promise<T> {
  const scrape: ScrapeContext['scrape'] = (input, call) =>
    withDeadline(
      (either) =>
        scraper.scrapeFrom(input, { signal: either, from: session.owner }, (plan, context) =>
          inTab(session, context.signal, log, (page) => new TabVisit(page, { ...context, session, plan }).load()),
        ),
      { signal: [call.signal, session.ended], cooperative: true },
    )
  let hasStarted = false
  const runWork = () => {
    hasStarted = true
    return work(scrape)
  }
  const late = AbortSignal.timeout(Math.max(0, Math.round(deadline - performance.now())))
  try {
    return await session.use(() => session.queue.run(runWork, AbortSignal.any([signal, session.ended, late])))
  } catch (error) {
    signal.throwIfAborted()
    if (hasStarted) throw error
    // If the session is not available, only the pages fail, not the results.
    const busy = new BaxError('timeout', 'the session was busy until the search timed out')
    return work(() => Promise.reject(late.aborted ? busy : (error as Error)))
  }
}

async function inTab<T>(
  session: LiveSession,
  signal: AbortSignal,
  log: Log,
  work: (page: Page) => Promise<T>,
): Promise<T> {
  // After an abort (session ended, timeout), report its reason instead of the error that it caused.
  const explain = (error: unknown, page?: Page): never => {
    signal.throwIfAborted()
    throw toBaxError(withReason(error, page), 'opening the page')
  }
  const page = await session.openBackgroundTab().catch((error: unknown) => explain(error))
  const opened: Page[] = []
  page.on('popup', (popup) => opened.push(popup))
  const pageClosed = closed(page)
  try {
    return await Promise.race([work(page), pageClosed])
  } catch (error) {
    return explain(error, page)
  } finally {
    // Closing the tab below rejects this promise.
    pageClosed.catch(() => {})
    await Promise.all([page, ...opened].map((tab) => closeTab(tab, log)))
  }
}

/** Rejects when the page crashes or closes, which a running navigation would not notice. */
const closed = (page: Page): Promise<never> =>
  new Promise((_, reject) => {
    page.once('crash', () => reject(new BaxError('page_crashed', 'the page crashed its renderer')))
    page.once('close', () => reject(new BaxError('target_closed', 'the page was closed')))
  })

async function closeTab(page: Page, log: Log): Promise<void> {
  try {
    const free = await freeToLeave(page)
    await withDeadline(free.close(), { ms: limits.pool.closeMs, error: 'the tab did not close' })
  } catch (error) {
    // The end of the session may have closed the tab already.
    if (!page.isClosed()) log('warn', 'a tab of a search did not close', { error: (error as Error).message })
  }
}

interface VisitFacts extends Pick<LoadContext, 'egress' | 'signal' | 'deadline' | 'read'> {
  readonly session: LiveSession
  readonly plan: ScrapePlan
}

class TabVisit {
  readonly #page: Page
  readonly #facts: VisitFacts
  readonly #warnings: string[] = []

  constructor(page: Page, facts: VisitFacts) {
    this.#page = page
    this.#facts = facts
  }

  async load(): Promise<LoadedPage> {
    const response = await this.#open()
    // The URL is a download.
    if (response === undefined) return this.#download()
    const headers = headersOf(await response.allHeaders())
    if (kindOfHeaders(headers) !== 'html') return this.#fromResponse(response, headers)
    await this.#ready()
    return this.#asPage(response, headers)
  }

  async #asPage(response: Response, headers: ResponseHeaders): Promise<LoadedPage> {
    const { input, formats, fullPage } = this.#facts.plan
    if (input.remove_overlays) await this.#run(readScript, 'removeOverlays')
    const timeout = Math.min(this.#left(), limits.scrape.elementMs)
    const screenshot = formats.has('screenshot') && (await this.#page.screenshot({ fullPage, timeout }))
    const page = await this.#run<PageReading>(readScript, 'readPage')
    if (page.isTooLarge) throw tooLarge()
    const reading = formats.has('branding') ? await this.#run<unknown>(brandingScript, 'read') : undefined
    const raw = formats.has('rawHtml') ? await response.text() : undefined
    const responseFacts = {
      url: page.url,
      status: response.status(),
      headers,
      redirects: await redirectsTo(response.request()),
    }
    const rendered = {
      isPage: true,
      ...(screenshot && { screenshot: screenshot.toString('base64') }),
      ...(reading !== undefined && { reading }),
    }
    const { html: text, charset } = page
    const common = { ...responseFacts, render: 'browser', rendered, warnings: this.#warnings } as const
    const source = { text, charset, ...(raw !== undefined && { raw }) }
    const inWorker = await readInWorker({ ...common, kind: 'html', source }, this.#facts.read)
    if (inWorker) return inWorker
    const document = await htmlDocument({ text, charset, url: page.url }, headers)
    return { ...common, document: { ...document, ...(raw !== undefined && { raw }) } }
  }

  /** Opens the URL; returns undefined if it is a download. */
  async #open(): Promise<Response | undefined> {
    watchNavigations(this.#page)
    try {
      const options = () => ({ waitUntil: 'commit', timeout: this.#left(), signal: this.#facts.signal }) as const
      const response = await retryTransient(() => this.#page.goto(this.#facts.plan.url, options()))
      if (response) return response
      throw new BaxError('navigation_failed', 'the page could not be opened')
    } catch (error) {
      if (/download is starting/i.test(String(error))) return undefined
      throw error
    }
  }

  /** Waits for the load event, network idle, and the waiting time of the scrape. */
  async #ready(): Promise<void> {
    const left = this.#left()
    const load = Math.max(1, left - readingReserve(left))
    const loaded = await this.#reaches('load', load)
    if (!loaded) this.#warnings.push('the page had not finished loading when it was read')
    else await this.#reaches('networkidle', limits.scrape.settleMs)
    const { wait_for: waitFor } = this.#facts.plan.input
    if (waitFor > 0) await sleep(waitFor, undefined, { signal: this.#facts.signal })
    // Stops an endless script; a page that cannot be freed from it cannot be read.
    const free = await freeToLeave(this.#page)
    if (free === this.#page) return
    await free.close()
    throw blockedByScript()
  }

  async #reaches(state: 'load' | 'networkidle', timeout: number): Promise<boolean> {
    try {
      const limit = { timeout, signal: this.#facts.signal }
      await (state === 'load' ? untilLoaded(this.#page, limit) : this.#page.waitForLoadState(state, limit))
      return true
    } catch (error) {
      this.#facts.signal.throwIfAborted()
      if ((error as Error).name === 'TimeoutError') return false
      throw error
    }
  }

  /** Runs a page script; a page that does not respond is blocked by a script. */
  #run<Output>(script: string, name: string): Promise<Output> {
    const work = this.#page.evaluate(pageFunction<() => Output>(script, name), undefined)
    return withDeadline(work, { ms: Math.min(this.#left(), limits.scrape.busyMs), error: blockedByScript().message })
  }

  /** Downloads the file with the cookies, user agent and proxy of the session. */
  async #download(): Promise<LoadedPage> {
    const { url } = this.#facts.plan
    const context = this.#page.context()
    const { cdp_url: remote, proxy } = this.#facts.session.input
    if (proxy && remote === undefined) {
      const answer = await context.request.get(url, { timeout: this.#left() })
      return this.#fromResponse(answer, headersOf(answer.headers()))
    }
    const cookies = async (address: string) =>
      (await context.cookies(address)).map(({ name, value }) => `${name}=${value}`).join('; ')
    const userAgent = await this.#page.evaluate<string>('navigator.userAgent')
    const { egress, signal } = this.#facts
    return this.#asFile(await fetchPage(url, { userAgent, egress, signal, cookies, checkHeaders: kindOfHeaders }))
  }

  async #fromResponse(answer: Response | APIResponse, headers: ResponseHeaders): Promise<LoadedPage> {
    kindOfHeaders(headers)
    if (Number(headers.get('content-length') ?? 0) > limits.scrape.bodyBytes) throw tooLarge()
    const bytes = await withDeadline(answer.body(), { ms: this.#left(), error: 'timed out downloading the file' })
    if (bytes.length > limits.scrape.bodyBytes) throw tooLarge()
    const redirects = 'request' in answer ? await redirectsTo(answer.request()) : []
    return this.#asFile({ url: answer.url(), status: answer.status(), headers, redirects, bytes })
  }

  async #asFile(fetched: FetchedPage): Promise<LoadedPage> {
    const { bytes } = fetched
    const kind = kindOf(fetched.headers, fetched.url, bytes)
    const page = { ...factsOf(fetched), render: 'browser' } as const
    if (isText(kind)) {
      const inWorker = await readInWorker({ ...page, kind, source: { bytes } }, this.#facts.read)
      if (inWorker) return inWorker
    }
    const { document } = await readDocument(fetched, { signal: this.#facts.signal, from: this.#facts.plan.from })
    return document.warning ? withWarning({ ...page, document }, document.warning) : { ...page, document }
  }

  #left(): number {
    return Math.max(1, this.#facts.deadline - performance.now())
  }
}

const headersOf = (headers: Record<string, string>): ResponseHeaders => new ResponseHeaders(Object.entries(headers))

const blockedByScript = (): BaxError => new BaxError('timeout', 'the page is blocked by a script')

const tooLarge = (): BaxError => new BaxError('content_too_large', 'the page is too large to read')

/** Returns the redirects that led to a request, in order. */
async function redirectsTo(request: Request): Promise<Redirect[]> {
  const redirects: Redirect[] = []
  for (let from = request.redirectedFrom(); from; from = from.redirectedFrom())
    redirects.unshift({ url: from.url(), status: (await from.response())?.status() ?? 302 })
  return redirects
}
