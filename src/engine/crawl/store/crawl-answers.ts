/** Responses that a crawl stores while it runs, so that it repeats no request after its process was killed. */
export interface CrawlAnswers {
  /** Returns whether an earlier process has loaded the page at this URL. */
  has(visit: string): boolean
  /** Returns a stored value about the site itself, such as its robots.txt; undefined if there is none. */
  site(key: string): unknown
  keepSite(key: string, value: unknown): void
  /** Discards what is kept of a finished page. */
  discard(visit: string): void
  /** Closes the store, and removes everything if the crawl has finished. */
  close(finished: boolean): void
}
