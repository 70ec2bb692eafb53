/** Defaults and limits of crawls; same units as `limits.ts`, which includes them. */
export const crawlLimits = {
  /** Default number of pages and default depth. */
  pages: 10,
  depth: 2,
  /** Maximum number of pages on a server, unless its operator sets another. */
  serverPages: 100,
  mostPages: 1_000_000,
  /** Default number of pages of a /v2 crawl, within the server's limit. */
  pagesV2: 10_000,
  /** URLs of one batch. */
  mostListedUrls: 10_000,
  mostDepth: 1000,
  /** Number of path globs, and characters of each. */
  globs: 1000,
  globChars: 1000,
  /** Default time for a whole crawl, in seconds. */
  secs: 600,
  mostSecs: 86_400,
  /** Retention of a crawl after its last page. */
  keptMs: 24 * 3_600_000,
  /** The same for the latest crawl of a folder on this machine, so that a monthly crawl can be compared with it. */
  folderKeptMs: 35 * 24 * 3_600_000,
  /** Interval of removing expired crawls. */
  sweepMs: 3_600_000,
  /** Default and maximum number of pages per response, and its maximum characters; `next` leads to the rest. */
  listedPages: 100,
  mostListedPages: 1000,
  answerChars: 64 * 1024 * 1024,
  /** Longest message from a client that watches a crawl over a websocket; nothing is expected. */
  watcherBytes: 64 * 1024,
  /** Bytes that wait for a slow watcher, and the interval of checks whether it has received them. */
  watcherBuffered: 8 * 1024 * 1024,
  watcherPollMs: 20,
  /** Largest file that is read from an output folder, in bytes. */
  mirrorFileBytes: 512 * 1024 * 1024,
  /** Crawls listed in one response. */
  listedCrawls: 50,
  mostListedCrawls: 1000,
  /** Skipped URLs listed in one response. */
  listed: 10_000,
  /** URLs of one site that are remembered; further ones are not followed. */
  addresses: 2_000_000,
  /** Length of a URL beyond which it counts as a crawler trap. */
  addressChars: 2000,
  /** Queued URLs in memory; further ones are queued on disk. */
  waiting: 5000,
  mostAtOnce: 64,
  /** Concurrent requests to one host. */
  perHost: 10,
  /** Finished pages that wait for a slower earlier one, by number and characters. */
  ahead: 128,
  aheadChars: 32 * 1024 * 1024,
  /** Numbers of finished URLs at which what was learnt about a site is summarized; then multiples of the last one. */
  siteWindows: [6, 12, 24, 48, 96],
  /** Maximum size of one file of stored answers. */
  keptSegmentBytes: 4 * 1024 * 1024,
  /** Retries of a page after a transient failure, and the first delay, which doubles. */
  retries: 2,
  retryMs: 500,
  /** For hosts that rate-limit: tries of one page, refusals in a row, first delay and total of all delays. */
  busyTries: 8,
  busyRefusals: 20,
  busyMs: 1000,
  busyPatienceMs: 120_000,
  /** The same for unreachable hosts. */
  downTries: 5,
  downPatienceMs: 16_000,
  crawlDelaySecs: 10,
  robotsMs: 10_000,
  robotsBytes: 500 * 1024,
  sitemapMs: 20_000,
  /** Time, files, bytes (unpacked, of each) and nested indexes of a site's sitemaps. */
  sitemapsMs: 120_000,
  sitemaps: 1000,
  sitemapBytes: 50 * 1024 * 1024,
  sitemapDepth: 3,
  /** Files of llms.txt of a site, and links in them. */
  llmsFiles: 20,
  llmsEntries: 20_000,
  /** Interval of audits: one of this many pages accepted as fetched is also rendered, to check that decision. */
  auditEvery: 32,
  /** Page templates of one host whose first page is rendered for that. */
  auditedTemplates: 16,
  progressMs: 250,
  /** Default number of URLs that a map lists. */
  mapped: 5000,
  mostMapped: 100_000,
  /** Default time for a map, in seconds. */
  mapSecs: 120,
  /** Crawls of a fleet. */
  fleet: {
    /** Time without a sign of life after which the work of a worker goes to another one, and the interval of checks. */
    lockMs: 10_000,
    stalledMs: 2_500,
    /** Time for a queue without running jobs to close. */
    closeMs: 5000,
    /** Number of times that a crawl, or a page, may lose its worker before it fails. */
    lostCrawls: 1000,
    lostPages: 5,
    /** Crawls that one worker coordinates at the same time. */
    coordinated: 8,
    /** Share of the page slots that are requested ahead, so that no worker waits for a coordinator. */
    ahead: 0.25,
    /** Interval of reading the number of slots and of running crawls. */
    slotsMs: 1000,
    /** Size of one part of a log in Redis. */
    chunkBytes: 4 * 1024 * 1024,
    /** Interval of retries while Redis is full. */
    fullMs: 1000,
    /** Interval of repairing the queues, over all workers of a build. */
    repairMs: 5000,
    /** Interval of checks for lost messages. */
    checkMs: 2000,
    /** Lease of a slot of a host, renewed three times as often, and the interval of requests for one. */
    hostLeaseMs: 15_000,
    hostPollMs: 50,
    /** Retention of the latest progress. */
    progressKeptMs: 10_000,
    /** Records of crawls that a gateway keeps in memory. */
    records: 200,
    /** Summaries of sites that a worker keeps in memory. */
    windows: 32,
    /** Time for an answer of Redis on behalf of a caller. */
    answerMs: 10_000,
  },
} as const
