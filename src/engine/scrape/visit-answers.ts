/** Answers of the network to one visit of a page, which a crawl keeps until the page is settled. */
import type { FetchedPage } from '../render/http/fetch.ts'
import type { RenderedPage } from '../render/browser/renderer.ts'

export interface VisitAnswers {
  /** Returns the kept answer, or asks and keeps what comes. */
  fetched(url: string, ask: () => Promise<FetchedPage>): Promise<FetchedPage>
  rendered(ask: () => Promise<RenderedPage>): Promise<RenderedPage>
}
