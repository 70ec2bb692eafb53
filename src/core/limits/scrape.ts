/** Defaults and maxima of reading pages; the units are those of `limits.ts`, of which they are a part. */
export const scrapeLimits = {
  timeoutMs: 30_000,
  maxTimeoutMs: 300_000,
  waitForMs: 60_000,
  actions: 50,
  /** Characters that all actions of one scrape may produce together, as JSON. */
  productChars: 64 * 1024 * 1024,
  /** A decoded body that grows beyond this is given up. */
  bodyBytes: 10 * 1024 * 1024,
  /**
   * Elements of its HTML. The longest real pages (specifications on one page) have fewer; what is judged of an element
   * takes up to 4 KB, so that tags alone could fill the memory of a process.
   */
  elements: 250_000,
  redirects: 10,
  /** A `<meta http-equiv=refresh>` that fires later than this is no redirect. */
  refreshSecs: 5,
  /** How long a page may go on changing after it has loaded. */
  settleMs: 2000,
  /** How long a page that shows no text, a spinner or a notice is waited for. */
  emptyMs: 10_000,
  /** A renderer that has not answered for so long is caught in a script. */
  busyMs: 4000,
  /** What is kept back of the time for reading a page that never finishes loading. */
  reserveMs: 1500,
  /** What is kept back of the time for returning a page as it was fetched. */
  fallbackMs: 1000,
  elementMs: 10_000,
  /** What one frame of a page may take. */
  frameMs: 5000,
  /** Pages rendered at the same time: at least, at most, and in between by processors. */
  pages: 4,
  mostPages: 16,
  pagesPerProcessor: 4,
  /** Pages after which a tab is replaced, with all that its renderer and its cache have gathered. */
  pagesPerTab: 100,
  /** Pages after which a renderer's garbage is collected. */
  collectEvery: 10,
  /** A rendering browser without work ends after this. */
  idleMs: 30_000,
  /** Answers kept for `max_age`, by number and by their characters. */
  cachedAnswers: 200,
  cachedChars: 64 * 1024 * 1024,
} as const
