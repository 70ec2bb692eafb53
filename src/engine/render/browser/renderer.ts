/** Renders pages in browsers that no session uses. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { FairQueue, reserveFor } from '../../../core/process/fair-queue.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { ScrapeAction } from '../../../core/shapes/scrape.ts'
import type { KeyShares } from '../../browser/shares/key-shares.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import type { Egress, ProxyTurn } from '../../egress/egress.ts'
import { type ActionResults, runActions, capture } from './actions.ts'
import { blockedPatterns } from './blocked-urls.ts'
import { ResponseHeaders } from '../../egress/response-headers.ts'
import { renderedAtOnce } from './concurrency.ts'
import type { PageResponse } from '../http/fetch.ts'
import type { ReadIdentity } from '../identity/identity.ts'
import readScript from '../page/read.page.ts?inline'
import type { PageReading } from '../page/read.page.ts'
import { RenderBrowser, type RenderKind } from './render-browser.ts'
import { RenderBrowsers } from './render-browsers.ts'
import type { Tab } from './tab.ts'
import type { Visit } from './visit.ts'

export interface RenderRequest {
  readonly url: string
  /** Hosts that the page may connect to; all when undefined. */
  readonly allowed: AllowedHosts | undefined
  /** ID of the key that the page is rendered for. */
  readonly from: Origin
  readonly identity?: ReadIdentity | undefined
  /** Proxy of the page; it belongs to an identity. */
  readonly turn?: ProxyTurn | undefined
  readonly waitFor: number
  readonly actions: readonly ScrapeAction[]
  readonly screenshot?: { readonly fullPage: boolean }
  /** Bundled page script; the result of its `read` function is returned as `reading`. */
  readonly script?: string
  /** Whether to return the response body too. */
  readonly raw: boolean
  readonly blockAds: boolean
  readonly removeOverlays: boolean
  readonly signal: AbortSignal
  /** Deadline, as a `performance.now()` time. */
  readonly deadline: number
}

export interface RenderedPage extends PageResponse {
  /** False for content other than HTML, of which there may be a screenshot. */
  readonly isPage: boolean
  readonly html: string
  readonly charset: string
  readonly raw?: string
  readonly screenshot?: string
  readonly reading?: unknown
  readonly actions?: ActionResults
  readonly warnings: readonly string[]
  /** Set if a part of the document is missing. */
  readonly isCut?: true
}

/** Codes of a tab, or of its browser, that is gone. */
const lostTab: ReadonlySet<string> = new Set<ErrorCode>(['page_crashed', 'target_closed', 'worker_lost'])

export class Renderer {
  /** A page may take long, so that there are tabs for keys that have few. */
  readonly #queue = new FairQueue({ atOnce: renderedAtOnce, reserve: reserveFor(renderedAtOnce) })
  readonly #browsers: RenderBrowsers

  constructor(config: EngineConfig, egress: Egress, shares: KeyShares) {
    const { log } = config
    const launch = (kind: RenderKind, owner: Origin) =>
      RenderBrowser.launch(kind, config, { egress, share: { shares, owner } })
    this.#browsers = new RenderBrowsers({ log, launch })
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  /** Renders a page. @throws BaxError with the code of the failure of the page or the browser */
  render(request: RenderRequest): Promise<RenderedPage> {
    return this.#queue.run(() => this.#render(request), request)
  }

  /** Ends all browsers; pages that are being rendered fail. */
  async close(): Promise<void> {
    this.#queue.close()
    await this.#browsers.close()
  }

  async #render(request: RenderRequest): Promise<RenderedPage> {
    const { screenshot, script, actions, removeOverlays } = request
    const needsPainting = screenshot !== undefined || script !== undefined || actions.length > 0 || removeOverlays
    const kind: RenderKind = needsPainting ? 'painted' : 'bare'
    const blocked = await blockedPatterns({ ads: request.blockAds, heavy: kind === 'bare' })
    for (let attempt = 0; ;) {
      const upstream = await request.turn?.current()
      const browser = this.#browsers.use(kind, request.from)
      let tab: Tab | undefined
      let visit: Visit | undefined
      let isOpen = false
      try {
        const tabs = await browser.tabs
        // Idle tabs can all have been lost, for example when memory ran out.
        tab = await (request.allowed || request.identity || attempt > 0
          ? tabs.open({ ...request, upstream })
          : tabs.take())
        visit = await tab.visit(request.url, { blocked, from: request.from })
        const isPage = await visit.open(request.url, request.signal)
        isOpen = true
        return await renderVisit(visit, request, isPage)
      } catch (error) {
        if (upstream && !isOpen && (error as BaxError).code === 'proxy_failed') {
          request.signal.throwIfAborted()
          await request.turn!.replace(upstream, error)
          continue
        }
        // Retry if the tab was lost before the page was shown. Its renderer or browser may have ended earlier, which is
        // noticed only when it is used.
        if (attempt++ > 0 || !lostTab.has((error as BaxError).code) || visit?.isShown) throw error
      } finally {
        // Also of a page that failed: its site may have replaced the cookies that it was requested with.
        const unread = await tab?.leave()
        if (unread !== undefined) visit?.warn(unread)
        if (tab) (await browser.tabs).release(tab)
        browser.release()
      }
    }
  }
}

async function renderVisit(visit: Visit, request: RenderRequest, isPage: boolean): Promise<RenderedPage> {
  const { signal } = request
  if (!isPage && !request.screenshot) return nonPage(visit, request.url)
  const ready = await readyPage(visit, request)
  const actions = request.actions.length > 0 ? await runActions(visit, request.actions, signal) : undefined
  if (request.removeOverlays) await visit.inPage(signal, readScript, 'removeOverlays')
  const screenshot = request.screenshot && (await capture(visit, request.screenshot.fullPage, signal))
  if (!isPage) return { ...nonPage(visit, request.url), ...(screenshot && { screenshot }) }
  const untouched = !actions && !request.removeOverlays
  const page = (untouched ? ready : undefined) ?? (await visit.inPage<PageReading>(signal, readScript, 'readPage'))
  if (page.isTooLarge) throw new BaxError('content_too_large', 'the rendered page is too large to be read')
  const reading = request.script && (await visit.inPage<unknown>(signal, request.script, 'read'))
  const raw = request.raw ? await bodyOf(visit, signal) : undefined
  return {
    ...responseOf(visit, page.url),
    isPage: true,
    html: page.html,
    charset: page.charset,
    warnings: visit.warnings,
    ...(visit.navigations.document.isCut && { isCut: true }),
    ...(raw !== undefined && { raw }),
    ...(screenshot && { screenshot }),
    ...(reading !== undefined && { reading }),
    ...(actions && { actions }),
  }
}

/** Waits until the page is stable and the caller's waiting time has passed. */
async function readyPage(visit: Visit, { signal, deadline, waitFor }: RenderRequest): Promise<PageReading | undefined> {
  if (waitFor === 0) return visit.untilReady(signal, deadline)
  // Content may arrive during the waiting time, so wait for missing content only afterwards.
  await visit.untilReady(signal, deadline, 0)
  await sleep(waitFor, undefined, { signal })
  return (await visit.isEmpty(signal)) ? visit.untilReady(signal, deadline) : undefined
}

const responseOf = ({ navigations: { response, redirects } }: Visit, url: string) => ({
  url,
  status: response?.status ?? 200,
  headers: response?.headers ?? new ResponseHeaders([['content-type', 'text/html']]),
  redirects,
})

const nonPage = (visit: Visit, url: string): RenderedPage => ({
  ...responseOf(visit, visit.navigations.response?.url ?? url),
  isPage: false,
  html: '',
  charset: '',
  warnings: visit.warnings,
})

async function bodyOf(visit: Visit, signal: AbortSignal): Promise<string | undefined> {
  const requestId = visit.navigations.response?.requestId
  if (requestId === undefined) return undefined
  try {
    const { body, base64Encoded } = await visit.send('Network.getResponseBody', { requestId }, signal)
    return base64Encoded ? Buffer.from(body as string, 'base64').toString('utf8') : (body as string)
  } catch (error) {
    if (signal.aborted || (error as BaxError).code !== 'cdp_error') throw error
    // The body is empty, or the browser has already discarded it.
    return undefined
  }
}
