import type { ScrapeAction } from '../scrape.ts'

/** URLs to visit in place of the links of a start page. */
export interface UrlList {
  readonly kind: 'batch' | 'extract'
  readonly urls: readonly string[]
  readonly actions: readonly ScrapeAction[]
}
