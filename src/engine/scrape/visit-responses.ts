/** Network responses of one visit of a page, which a crawl stores until it has finished the page. */
import type { FetchedPage } from '../render/http/fetch.ts'
import type { RenderedPage } from '../render/browser/renderer.ts'

export interface VisitResponses {
  /** Return the stored response, or make the request and store its response. */
  fetched(url: string, ask: () => Promise<FetchedPage>): Promise<FetchedPage>
  rendered(ask: () => Promise<RenderedPage>): Promise<RenderedPage>
}
