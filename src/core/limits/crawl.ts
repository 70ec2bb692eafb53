/** Defaults and maxima of crawling; the units are those of `limits.ts`, of which they are a part. */
export const crawlLimits = {
  /** Pages and depth unless others are asked for. */
  pages: 10,
  depth: 2,
  /** Pages that a server allows unless its operator says otherwise. */
  serverPages: 100,
  mostPages: 1_000_000,
  /** Pages of a crawl of /v2 that does not say how many, where the server allows them. */
  pagesV2: 10_000,
  mostDepth: 1000,
  /** Globs of paths, and characters of each. */
  globs: 1000,
  globChars: 1000,
  /** Seconds for a whole crawl unless others are asked for. */
  secs: 600,
  mostSecs: 86_400,
  /** How long a crawl is kept after its last page. */
  keptMs: 24 * 3_600_000,
  /** How often those whose time is over are looked for. */
  sweepMs: 3_600_000,
  /** Pages of one answer; what is beyond them, or beyond so many characters, is had by `next`. */
  listedPages: 100,
  mostListedPages: 1000,
  answerChars: 64 * 1024 * 1024,
  /** Crawls in one list. */
  listedCrawls: 50,
  mostListedCrawls: 1000,
  /** Skipped addresses that an answer lists. */
  listed: 10_000,
  /** Addresses of one site that are told apart; further ones are not followed. */
  addresses: 2_000_000,
  /** Characters of an address beyond which it is no page but a trap. */
  addressChars: 2000,
  /** Waiting addresses held in memory; further ones wait on disk. */
  waiting: 5000,
  mostAtOnce: 64,
  /** Requests to one host at the same time. */
  perHost: 10,
  /** Pages that may be done and wait for a slower one before them, by number and characters. */
  ahead: 128,
  aheadChars: 32 * 1024 * 1024,
  /** Bytes of one file of answers that are kept for them. */
  keptSegmentBytes: 4 * 1024 * 1024,
  /** Further tries of a page that failed for a reason that passes, and the first pause before one; it doubles. */
  retries: 2,
  retryMs: 500,
  /** Of a host that wants fewer requests: tries of one page, refusals in a row, first pause and all pauses together. */
  busyTries: 8,
  busyRefusals: 20,
  busyMs: 1000,
  busyPatienceMs: 120_000,
  /** The same of a host that cannot be reached. */
  downTries: 5,
  downPatienceMs: 16_000,
  crawlDelaySecs: 10,
  robotsMs: 10_000,
  robotsBytes: 500 * 1024,
  sitemapMs: 20_000,
  /** Time, files, bytes (unpacked, of each) and nested indexes of the sitemaps of a site. */
  sitemapsMs: 120_000,
  sitemaps: 1000,
  sitemapBytes: 50 * 1024 * 1024,
  sitemapDepth: 3,
  /** Of so many pages that are taken as they were fetched, one is also rendered to see whether that was right. */
  auditEvery: 32,
  /** Kinds of pages of one host whose first page is rendered for that. */
  auditedTemplates: 16,
  progressMs: 250,
  /** Addresses that a map lists unless others are asked for. */
  mapped: 5000,
  mostMapped: 100_000,
  /** Seconds that a map takes at most unless others are asked for. */
  mapSecs: 120,
} as const
