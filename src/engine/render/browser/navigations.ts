/** Navigations of the main frame of a tab: documents requested, shown and loaded, their responses and redirects. */
import { limits } from '../../../core/limits/limits.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import type { Redirect } from '../http/fetch.ts'
import { isEmptyStatus, isHttp, isSameDocument } from '../http/web-url.ts'
import {
  RequestedDocument,
  type Frame,
  type RequestWillBeSent,
  documentResponse,
  type DocumentResponse,
  isAttachment,
  isPage,
} from './document.ts'

/** Parameters of `Page.frameScheduledNavigation`, with the delay in seconds. */
export type ScheduledNavigation = {
  readonly frameId: string
  readonly url: string
  readonly delay: number
  readonly reason: string
}

/** The request for a page, its response, and the redirects that led to it. */
interface PageState {
  readonly document: RequestedDocument
  readonly response: DocumentResponse | undefined
  readonly redirects: readonly Redirect[]
}

export class Navigations {
  /** URL of the latest file that a page has started to download; undefined if there was none. */
  download: string | undefined
  readonly #mainFrame: string
  #shown = 0
  #isLeaving = false
  #hasLoaded = false
  /** Whether a navigation of the shown page has ended without a new page; Chromium reports no load event then. */
  #stays = false
  #current: PageState = { document: new RequestedDocument(), response: undefined, redirects: [] }
  #shownPage = this.#current
  #scheduled: ScheduledNavigation | undefined
  /** Whether the requested document has arrived; earlier events belong to the previous page. */
  #hasStarted = false
  #loader: string | undefined

  constructor(mainFrame: string) {
    this.#mainFrame = mainFrame
  }

  /** Number of documents shown. */
  get shown(): number {
    return this.#shown
  }

  /** Whether another document was requested that is not shown yet. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  get isLoaded(): boolean {
    return !this.#isLeaving && (this.#hasLoaded || this.document.isCut)
  }

  get document(): RequestedDocument {
    return this.#current.document
  }

  get response(): DocumentResponse | undefined {
    return this.#current.response
  }

  get redirects(): readonly Redirect[] {
    return this.#current.redirects
  }

  /** The redirect to another page that the shown page does soon, by the header `Refresh` or the element. */
  get refresh(): ScheduledNavigation | undefined {
    const { delay = 0, reason = '', url = '' } = this.#scheduled ?? {}
    if (reason !== 'metaTagRefresh' && reason !== 'httpHeaderRefresh') return undefined
    const target = parseUrl(url)
    const isOther = target !== undefined && isHttp(target) && !isSameDocument(url, this.document.url)
    return isOther && delay <= limits.scrape.refreshSecs ? this.#scheduled : undefined
  }

  /** Notes a request; returns whether it is one for a document of the main frame. */
  requested(event: RequestWillBeSent): boolean {
    const { type, frameId, loaderId, redirectResponse } = event
    if (type !== 'Document' || frameId !== this.#mainFrame) return false
    this.#loader ??= loaderId
    const { redirects } = redirectResponse ? this.#current : this.#shownPage
    const last = redirectResponse ?? (this.#shown > 0 ? this.#shownPage.response : undefined)
    this.#current = {
      document: new RequestedDocument(event),
      response: undefined,
      redirects: last ? [...redirects, { url: last.url, status: last.status }] : redirects,
    }
    this.#isLeaving = true
    return true
  }

  responded(params: Record<string, unknown>): void {
    if (params['type'] !== 'Document' || params['frameId'] !== this.#mainFrame) return
    this.#current = { ...this.#current, response: documentResponse(params) }
  }

  ended(requestId: string, failure?: string): void {
    this.#shownPage.document.ended(requestId, failure)
    this.document.ended(requestId, failure)
    const isAborted = this.document.id === requestId && failure === 'net::ERR_ABORTED'
    if (isAborted && this.#isLeaving && this.#shown > 0) this.#stay()
  }

  /** Returns to the page that is still shown after a response that is none: a download, or one without content. */
  #stay(): void {
    const { response } = this.#current
    if (response && !isEmptyStatus(response.status) && (isAttachment(response) || !isPage(response)))
      this.download = response.url
    this.#current = this.#shownPage
    this.#isLeaving = false
    this.#stays = true
  }

  scheduled(navigation: ScheduledNavigation): void {
    if (navigation.frameId === this.#mainFrame) this.#scheduled = navigation
  }

  cleared(frameId: string): void {
    if (frameId === this.#mainFrame) this.#scheduled = undefined
  }

  /** Notes a document that is shown; returns false for one of the previous page or of another frame. */
  committed(frame: Frame): boolean {
    if (frame.parentId !== undefined) return false
    this.#hasStarted ||= frame.loaderId === this.#loader || frame.unreachableUrl !== undefined
    if (!this.#hasStarted) return false
    this.#shown++
    this.#isLeaving = false
    this.#hasLoaded = false
    this.#stays = false
    this.#scheduled = undefined
    this.#shownPage = this.#current
    return true
  }

  loaded(): void {
    if (this.#hasStarted) this.#hasLoaded = true
  }

  stopped(frameId: string): void {
    if (frameId === this.#mainFrame && this.#stays && !this.#isLeaving) this.#hasLoaded = true
  }
}
