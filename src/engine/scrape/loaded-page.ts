/** Loaded pages, and what a worker thread has read of them. */
import type { ScrapeAnswer, WarningCode } from '../../core/shapes/scrape.ts'
import type { RenderedPage } from '../render/browser/renderer.ts'
import type { Reason } from '../render/decide/decide.ts'
import type { Redirect } from '../render/http/fetch.ts'
import type { ResponseHeaders } from '../render/http/response-headers.ts'
import type { PageDocument } from './documents/document.ts'

/** Results of rendering other than the page. */
export type Extras = Pick<RenderedPage, 'isPage' | 'screenshot' | 'reading' | 'actions'>

/** A page and the response that contained it. */
export interface LoadedPage {
  readonly document: PageDocument
  readonly url: string
  readonly status: number
  readonly headers: ResponseHeaders
  readonly redirects: readonly Redirect[]
  readonly render: 'http' | 'browser'
  /** Results of the browser. */
  readonly rendered?: Extras
  readonly warnings: readonly string[]
  readonly warningCode?: WarningCode
  /** Result of a worker thread; the document is then parsed on first use. */
  readonly reading?: PageReading
}

/** Results of reading a page, which are smaller than its tree. */
export interface PageReading {
  readonly charset: string
  /** Length of its source text, in characters. */
  readonly size: number
  readonly template?: string
  readonly reason?: Reason
  /** Whether the page has readable text without rendering; set when there is a reason for a browser. */
  readonly isReadable?: boolean
  /** URLs of its links. */
  readonly links: readonly string[]
  readonly answer?: ScrapeAnswer
}
