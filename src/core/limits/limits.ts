import { contentLimits } from './content.ts'
import { crawlLimits } from './crawl.ts'
import { egressLimits } from './egress.ts'
import { codeLimits, engineLimits } from './engine.ts'
import { fleetLimits, workerLimits } from './fleet.ts'
import { gatewayLimits } from './gateway.ts'
import { mcpLimits } from './mcp.ts'
import { relayLimits } from './relay.ts'
import { approvalLimits, dialogLimits, handoffLimits } from './people.ts'
import { recordingLimits, replayLimits, sessionFileLimits } from './recording.ts'
import { serverLimits } from './server.ts'
import { scalingLimits } from './scaling.ts'
import { changeLimits, documentLimits, identityLimits, requestLimits, scrapeLimits } from './scrape.ts'
import { shellLimits } from './shell.ts'
import { credentialLimits, storeLimits } from './stores.ts'
import { webhookLimits } from './webhook.ts'
import { browserMessageLimits } from './browser-messages.ts'
import { pageControlLimits } from './page-control.ts'

/** Defaults and maxima, in one place. Milliseconds in `*Ms`, seconds in `*Secs`, bytes in `*Bytes`. */
export const limits = {
  ...contentLimits,

  ...codeLimits,

  ...serverLimits,
  ...shellLimits,

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
    /** Browser contexts that the CDP clients of a session may have open at the same time. */
    clientContexts: 10,
    /** Number of files that a session's pages may download, and their total bytes. */
    downloads: 200,
    downloadBytes: 1024 * 1024 * 1024,
    ...sessionFileLimits,
    /** Lines of the session journal after which it is rewritten without expired entries. */
    tombstoneLines: 2000,
    /** Time to read cookies and storage for a profile. */
    storageMs: 10_000,
    /** Time for a page that has just loaded to report its title. */
    titleMs: 2000,
    /** Time after an input in which its page can still begin and finish requests; the session closes later. */
    inputMs: 500,
    /** Time without a request or a change of the page after which an input has no further effect. */
    inputQuietMs: 250,
    /** Time to reload a tab whose page has crashed. */
    reloadMs: 15_000,
    viewport: { width: 1280, height: 720 },
  },

  ...browserMessageLimits,

  approvals: approvalLimits,
  handoffs: handoffLimits,

  ...changeLimits,

  ...mcpLimits,

  ...pageControlLimits,
  /** Steps of one recording, and the texts and attributes of a fingerprint. */
  scriptRecording: { steps: 1000, textChars: 500, attributes: 20 },

  /** Commands of a session that can become a script, and the characters of their data; the oldest are discarded. */
  /** Commands of a session that are kept, their characters, and the time for the description of an element. */
  journal: { entries: 1000, chars: 1_000_000, describeMs: 1000 },

  provision: { timeoutMs: 120_000, retryAfterMs: 500 },

  scaling: scalingLimits,

  dialog: dialogLimits,

  command: {
    elementMs: 10_000,
    /** Time for a disabled element to become enabled, unless `timeout_ms` is set. */
    disabledMs: 1000,
    navigationMs: 30_000,
    /** Time that input waits for the requests of the page, and age from which it does not. */
    dataMs: 1000,
    /** The same for requests since the last input. */
    reactionMs: 3000,
    evaluateMs: 30_000,
    batchMs: 300_000,
    /** Time to print a page. */
    pdfMs: 120_000,
    /** Maximum value of `timeout_ms`. */
    maxMs: 300_000,
    perBatch: 1000,
    /** Batches queued for one session; further ones receive 429. */
    queue: 32,
  },

  pool: {
    /** Pages kept ready for the next sessions. */
    warm: 2,
    /** Delay of the refill of warm pages: restarts with every created or closed session, unless sessions wait for pages. */
    warmDelayMs: 200,
    /** Maximum of pages kept ready while sessions are created within `warmBurstMs` of each other, and how long after. */
    warmMax: 8,
    warmBurstMs: 1000,
    warmIdleMs: 30_000,
    /** Free memory below which no more than `warm` pages are kept ready. */
    warmFreeBytes: 1024 ** 3,
    /** Warm pages that are opened at the same time. */
    warmMakers: 2,
    contextsPerBrowser: 25,
    browsers: 2,
    processes: 25,
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

  credentials: credentialLimits,

  /** Minimum length of the secret that encrypts profiles, and of the one for credentials. */
  profileKeyChars: 16,

  /** Time for running work when a server is asked to stop. */
  drain: { secs: 30, maxSecs: 3600 },

  engine: engineLimits,

  scrape: scrapeLimits,

  crawl: crawlLimits,

  /**
   * Worker threads that parse pages: the maximum number in a process, of which there is at most one per core, the heap of
   * each, the time that one has to finish an aborted page before it is replaced, and their idle time, which is shorter
   * after pages that need a large heap. They parse all pages of servers and local engines once a thread is ready, all
   * pages of a crawl of at least `worthwhile` pages, and every page of at least `large` bytes, which may have been built
   * to keep the main thread busy; these have threads of their own. Local engines start the last thread only after
   * `patienceMs`; see `ThreadPoolOptions`.
   */
  reading: {
    threads: 8,
    worthwhile: 32,
    large: 512 * 1024,
    /** Size from which a page is not sent to a language model; smaller ones stay on the main thread, which calls it. */
    modelBytes: 2 * 1024 * 1024,
    heapMb: 1024,
    largeHeapMb: 2048,
    longestMs: 30_000,
    graceMs: 1000,
    idleMs: 120_000,
    grown: { heapMb: 128, idleMs: 2000 },
    patienceMs: 3000,
  },

  ...documentLimits,

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
    /** Characters of a new page in a brief answer, and of the line with controls that the last page had, too. */
    briefChars: 2500,
    sharedChars: 1000,
    /** Default length of snapshot and text. */
    chars: 20_000,
    minChars: 500,
    maxChars: 5_000_000,
    /** Links and buttons beyond the edge of a page that a snapshot lists. */
    outside: 10,
    /** Time for a whole observation. */
    timeoutMs: 30_000,
    /** Messages and requests listed in an observation. */
    recent: 50,
    settleMs: 500,
    maxSettleMs: 30_000,
    /** A page that has changed counts as stable when nothing has changed for this long. */
    quietMs: 50,
    /** The same after an action that has not changed it. */
    unchangedMs: 100,
    /** Time for a document to be parsed; the observation of a slower one lacks the rest. */
    parseMs: 2000,
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

  keys: {
    /** Minimum interval between two records of a key's use. */
    noteMs: 60_000,
    /** Time within which everything that depends on a key ends with it. */
    checkMs: 500,
    /** Coarsest file system timestamp to allow for. */
    tickMs: 2000,
  },

  stores: storeLimits,

  identity: identityLimits,

  egress: egressLimits,

  fleet: fleetLimits,

  gateway: gatewayLimits,

  worker: workerLimits,

  webhook: webhookLimits,

  events: {
    ring: 1000,
    /** Events of each kind that are kept longer than the ring buffer does, and their length in characters. */
    perKind: 100,
    kindChars: 256 * 1024,
  },

  relay: relayLimits,

  request: requestLimits,

  recording: recordingLimits,

  replay: replayLimits,

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
    /** Time in which a page takes the last input of a person who finishes. */
    deliverMs: 5000,
    /** Recent events sent to a view when it opens. */
    events: 100,
    /** Buffered bytes at which a slow view is closed. */
    waitingBytes: 16 * 1024 * 1024,
  },
} as const
