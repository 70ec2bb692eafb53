import { crawlLimits } from './crawl.ts'
import { egressLimits } from './egress.ts'
import { engineLimits } from './engine.ts'
import { relayLimits } from './relay.ts'
import { serverLimits } from './server.ts'
import { scrapeLimits } from './scrape.ts'
import { browserMessageLimits } from './browser-messages.ts'

/** Defaults and maxima, in one place. Milliseconds in `*Ms`, seconds in `*Secs`, bytes in `*Bytes`. */
export const limits = {
  bodyBytes: 10 * 1024 * 1024,

  ...serverLimits,

  session: {
    idleTimeoutSecs: 300,
    timeoutSecs: 3600,
    maxTimeoutSecs: 86_400,
    /** Lifetime of a ticket for CDP clients. */
    ticketMs: 60_000,
    /** Lead time of `session.expiring` before the session ends. */
    expiringNoticeSecs: 30,
    /** Lifetime of the tombstone of an ended session or finished provision. */
    tombstoneMs: 10 * 60_000,
    /** Maximum number of tabs, and of further attempts until the page that opens them is closed. */
    tabs: 50,
    refusedTabs: 20,
    /** Number of files that a session's pages may download, and their total bytes. */
    downloads: 200,
    downloadBytes: 1024 * 1024 * 1024,
    /** Lines of the session journal after which it is rewritten without expired entries. */
    tombstoneLines: 2000,
    /** Time to read cookies and storage for a profile. */
    storageMs: 10_000,
    /** Time for a page that has just loaded to report its title. */
    titleMs: 2000,
    /** Time to reload a tab whose page has crashed. */
    reloadMs: 15_000,
    viewport: { width: 1280, height: 720 },
  },

  ...browserMessageLimits,

  provision: { timeoutMs: 120_000, retryAfterMs: 500 },

  command: {
    elementMs: 10_000,
    navigationMs: 30_000,
    evaluateMs: 30_000,
    batchMs: 300_000,
    /** Maximum value of `timeout_ms`. */
    maxMs: 300_000,
    perBatch: 1000,
    /** Batches queued for one session; further ones receive 429. */
    queue: 32,
  },

  pool: {
    /** Pages kept ready for the next sessions. */
    warm: 2,
    /** Delay before the warm pages are refilled, to let the session creation that took one finish first. */
    warmDelayMs: 20,
    contextsPerBrowser: 25,
    browsers: 2,
    launchMs: 30_000,
    closeMs: 5_000,
    /** Time for a browser to exit by itself. */
    exitMs: 2_000,
    /**
     * Interval of health checks, which ask each browser for its version. A browser that has not responded within
     * `answerMs` gets no new sessions; one that has not responded within `graceMs` is killed, and its sessions end.
     */
    health: { everyMs: 5_000, answerMs: 5_000, graceMs: 30_000 },
    /** Idle time after which a browser without sessions ends, unless it is the last of its kind. */
    idleMs: 30_000,
  },

  /** Cache lifetime of `GET /readyz`: for the state folder, for a browser that started, for one that did not. */
  readiness: { readyMs: 2000, startedMs: 60_000, failedMs: 5000 },

  /** Minimum length of the secret that encrypts profiles. */
  profileKeyChars: 16,

  /** Time for running work when a server is asked to stop. */
  drain: { secs: 30, maxSecs: 3600 },

  engine: engineLimits,

  scrape: scrapeLimits,

  crawl: crawlLimits,

  /**
   * Worker threads that parse pages: their number, their heap, and their idle time. They parse all pages of a crawl of
   * at least `worthwhile` pages, and every page of at least `large` bytes, which may have been built to keep the main
   * thread busy.
   */
  reading: {
    threads: 8,
    worthwhile: 32,
    large: 512 * 1024,
    /** Size from which a page is not sent to a language model; smaller ones stay on the main thread, which calls it. */
    modelBytes: 2 * 1024 * 1024,
    heapMb: 2048,
    longestMs: 30_000,
    idleMs: 30_000,
  },

  /** Worker threads for PDFs, the heap of each, and how much the process may grow meanwhile. */
  pdf: { threads: 2, heapMb: 512, bytes: 1024 ** 3, pollMs: 50, longestMs: 30_000, idleMs: 30_000 },

  /** Worker threads that decompress large bodies. */
  unzstd: { threads: 2, heapMb: 128, longestMs: 30_000, idleMs: 30_000 },

  search: {
    results: 5,
    maxResults: 20,
    queryChars: 2000,
    /** Time for everything, including scraping the results. */
    timeoutMs: 60_000,
    maxTimeoutMs: 300_000,
    /** Time for one answer of a provider: from an API, and from a result page in a browser that may have to start. */
    apiMs: 10_000,
    pageMs: 20_000,
    answerBytes: 4 * 1024 * 1024,
    /** Maximum number of result pages that one search reads. */
    pages: 4,
    /** Results scraped concurrently, and how many of them in tabs of a session. */
    concurrency: 8,
    tabs: 4,
  },

  observe: {
    /** Default number of elements listed. */
    elements: 200,
    maxElements: 5000,
    /** Default length of snapshot and text. */
    chars: 20_000,
    minChars: 500,
    maxChars: 5_000_000,
    /** Time for a whole observation. */
    timeoutMs: 30_000,
    /** Messages and requests listed in an observation. */
    recent: 50,
    settleMs: 500,
    maxSettleMs: 30_000,
    /** A page counts as stable when nothing has changed for this long. */
    quietMs: 100,
  },

  model: {
    /** Time for one answer of a language model, including retries. */
    answerMs: 120_000,
    /** Part of a scrape's time reserved for the heuristics that fill in what a model did not answer. */
    rulesMs: 1000,
    /** Retries of a request rejected because of load, and the longest delay before one. */
    retries: 2,
    pauseMs: 20_000,
    answerBytes: 4 * 1024 * 1024,
    answerTokens: 8192,
    /** Characters of a page sent to a model; four of them are about one token. */
    pageChars: 60_000,
  },

  shell: {
    /** Sliding idle timeout, restarted by every call on the session. */
    timeoutSecs: 1800,
    maxTimeoutSecs: 86_400,
    maxLifetimeSecs: 21_600,
    maxMaxLifetimeSecs: 604_800,
    /** Live sessions of one engine. */
    sessions: 64,
    /** Lifetime of a stopped session's tombstone. */
    tombstoneMs: 60 * 60_000,
    /** Time for the container of an abandoned session creation to appear. */
    createMs: 120_000,
    /** Time for the last capture of artifacts before a container is removed. */
    lastCaptureMs: 5_000,
    closeMs: 10_000,
    memoryMb: 512,
    cpus: 1,
    pids: 128,
    workspaceMb: 256,
    outputMb: 128,
    tmpMb: 64,
    workspaceFiles: 100_000,
    outputFiles: 20_000,
    tmpFiles: 20_000,
    maxFiles: 4_000_000,
    outputMounts: 8,
    envNames: 256,
    envBytes: 256 * 1024,
  },

  exec: {
    timeoutSecs: 120,
    maxTimeoutSecs: 3600,
    /** Buffered bytes of stdout and of stderr. */
    outputBytes: 8 * 1024 * 1024,
    maxOutputBytes: 64 * 1024 * 1024,
    commandBytes: 1024 * 1024,
    perSession: 16,
    /** Finished commands that are remembered, by number and by output. */
    kept: 100,
    keptBytes: 32 * 1024 * 1024,
    /** Largest chunk of output in one frame. */
    chunkBytes: 32 * 1024,
    /** How long an incomplete UTF-8 sequence waits for its remaining bytes. */
    tailMs: 50,
    pingMs: 15_000,
    /** Bytes of output buffered for a reader. */
    bufferedBytes: 1024 * 1024,
    /** Bytes of standard input buffered for the program. */
    stdinBytes: 1024 * 1024,
    bodyBytes: 64 * 1024 * 1024,
  },

  files: {
    pathBytes: 4096,
    readBytes: 16 * 1024 * 1024,
    /** Maximum body of a write. */
    bodyBytes: 64 * 1024 * 1024,
    /** Largest chunk of a file requested from a container at once. */
    chunkBytes: 1024 * 1024,
    listed: 1000,
    maxListed: 10_000,
    treeDepth: 4,
    maxTreeDepth: 32,
    treeEntries: 2000,
    maxTreeEntries: 20_000,
    searchResults: 200,
    maxSearchResults: 5000,
    searchFileBytes: 5 * 1024 * 1024,
    maxSearchFileBytes: 64 * 1024 * 1024,
    lineChars: 500,
    /** Time for one file operation. */
    timeoutMs: 120_000,
  },

  artifacts: {
    fileBytes: 64 * 1024 * 1024,
    sessionBytes: 256 * 1024 * 1024,
    sessionFiles: 2000,
    depth: 64,
    /** Names of skipped files listed by one artifact. */
    skipped: 1000,
    /** Retention of artifacts after their session has stopped. */
    retentionMs: 24 * 60 * 60_000,
    listed: 100,
  },

  keys: {
    /** Minimum interval between two records of a key's use. */
    noteMs: 60_000,
    /** Time within which everything that depends on a key ends with it. */
    checkMs: 500,
    /** Coarsest file system timestamp to allow for. */
    tickMs: 2000,
  },

  egress: egressLimits,

  events: { ring: 1000 },

  relay: relayLimits,

  stream: {
    retryMs: 2000,
    keepAliveMs: 15_000,
    /** How long to try to reconnect before the reader gives up. */
    reconnectMs: 60_000,
    /** Delay between two frames of a page. */
    frameMs: 60,
  },

  live: {
    /** Additional tokens of one session. */
    tokens: 100,
    textChars: 100_000,
    messageChars: 500_000,
    /** Several times the input that a person can produce in a second. */
    messagesPerSec: 500,
    /** Idle time after which a person with control counts as absent. */
    idleMs: 5 * 60_000,
    /** Recent events sent to a view when it opens. */
    events: 100,
    /** Buffered bytes at which a slow view is closed. */
    waitingBytes: 16 * 1024 * 1024,
  },
} as const
