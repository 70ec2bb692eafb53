/** Loaded pages, and what a worker thread has read of them. */
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeMetadata, WarningCode } from '../../core/shapes/scrape.ts'
import type { RenderedPage } from '../render/browser/renderer.ts'
import { needsBrowser, type Reason } from '../render/decide/page-reason.ts'
import { cutWarning } from '../render/http/decompress.ts'
import type { FetchedPage, PageResponse } from '../render/http/fetch.ts'
import { hasText, isReadableTree } from './content/content.ts'
import type { PageDocument } from './documents/document.ts'
import { hrefsOf } from './formats/links.ts'
import type { WrittenAnswer } from './write.ts'

/** Results of rendering other than the page. */
export type Extras = Pick<RenderedPage, 'isPage' | 'screenshot' | 'reading' | 'actions'>

/** A page and the response that contained it. */
export interface LoadedPage extends PageResponse {
  readonly document: PageDocument
  readonly render: 'http' | 'browser'
  readonly rendered?: Extras
  readonly warnings: readonly string[]
  readonly warningCode?: WarningCode
  /** The Markdown in place of the page, and the metadata of the page. */
  readonly alternate?: { readonly url: string; readonly metadata: Partial<ScrapeMetadata> }
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
  /** Whether an HTML page has text other than a notice. */
  readonly hasText?: boolean
  /** URL of the login that an HTML page asks for. */
  readonly loginUrl?: string
  readonly links: readonly string[]
  /** URL of the Markdown that the page links to. */
  readonly markdownUrl?: string
  readonly written?: WrittenAnswer
}

/** Returns what a loaded page takes over from its response. */
export const factsOf = ({ url, status, headers, redirects, isCut }: FetchedPage) => ({
  url,
  status,
  headers,
  redirects,
  render: 'http' as const,
  warnings: isCut ? [cutWarning] : [],
  ...(isCut && { warningCode: 'incomplete_response' as const }),
})

/** Returns why the markup of a page requires a browser; undefined if it does not. */
export const renderReason = ({ reading, document }: LoadedPage): Reason | undefined =>
  reading ? reading.reason : needsBrowser(document.tree.root)

/** Whether a page has readable text without rendering. */
export const isReadable = ({ reading, document }: LoadedPage): boolean =>
  reading?.isReadable ?? isReadableTree(document.tree)

/** Whether a page has text other than a notice, or an image with a text alternative. */
export const showsText = ({ reading, document }: LoadedPage): boolean => reading?.hasText ?? hasText(document.tree)

/** Whether two forms of a page are small enough to compare on this thread. */
export const areComparable = (fetched: LoadedPage, rendered: LoadedPage): boolean =>
  [fetched, rendered].every(({ reading }) => reading === undefined || reading.size < limits.reading.large)

export const linksIn = ({ reading, document }: LoadedPage): readonly string[] =>
  reading?.links ?? hrefsOf(document.tree)

/** Network responses of one visit of a page, which a crawl stores until it has finished the page. */
export interface VisitResponses {
  /** Return the stored response, or make the request and store its response. */
  fetched(url: string, ask: () => Promise<FetchedPage>): Promise<FetchedPage>
  rendered(ask: () => Promise<RenderedPage>): Promise<RenderedPage>
}
