import { crawlLimits } from './crawl.ts'
import { egressLimits } from './egress.ts'
import { relayLimits } from './relay.ts'
import { serverLimits } from './server.ts'
import { scrapeLimits } from './scrape.ts'
import { wireLimits } from './browser-messages.ts'

/** Defaults and maxima, in one place. Milliseconds in `*Ms`, seconds in `*Secs`, bytes in `*Bytes`. */
export const limits = {
  bodyBytes: 10 * 1024 * 1024,

  ...serverLimits,

  session: {
    idleTimeoutSecs: 300,
    timeoutSecs: 3600,
    maxTimeoutSecs: 86_400,
    /** How long a ticket lets a client of CDP in. */
    ticketMs: 60_000,
    /** How long before its end `session.expiring` is sent. */
    expiringNoticeSecs: 30,
    /** How long an ended session, or a finished provision, can still be asked about. */
    tombstoneMs: 10 * 60_000,
    /** Tabs at most; a page that has opened so many more is closed itself. */
    tabs: 50,
    refusedTabs: 20,
    /** Files that its pages may download, and their bytes together. */
    downloads: 200,
    downloadBytes: 1024 * 1024 * 1024,
    /** Lines of a journal of sessions after which it is written anew, without those that are forgotten. */
    graveLines: 2000,
    /** How long reading cookies and storage for a profile may take. */
    storageMs: 10_000,
    /** How long a page that has just loaded may take to tell its title. */
    titleMs: 2000,
    /** Time for reloading a tab whose page has crashed. */
    reloadMs: 15_000,
    viewport: { width: 1280, height: 720 },
  },

  ...wireLimits,

  provision: { timeoutMs: 120_000, retryAfterMs: 500 },

  command: {
    elementMs: 10_000,
    navigationMs: 30_000,
    evaluateMs: 30_000,
    batchMs: 300_000,
    /** Longest time that a `timeout_ms` may ask for. */
    maxMs: 300_000,
    perBatch: 1000,
    /** Batches that may wait for one session; one more is answered 429. */
    queue: 32,
  },

  pool: {
    /** Ready pages kept for the next sessions. */
    warm: 2,
    /** Pause before ready pages are made, so that the creation that took one goes first. */
    warmDelayMs: 20,
    contextsPerBrowser: 25,
    browsers: 2,
    launchMs: 30_000,
    closeMs: 5_000,
    /** How long a browser may take to end by itself. */
    exitMs: 2_000,
    /**
     * Every browser is asked for its version this often. One that has not answered in `answerMs` gets no new sessions;
     * one that has not answered `graceMs` after the question is killed, and its sessions end.
     */
    health: { everyMs: 5_000, answerMs: 5_000, graceMs: 30_000 },
    /** A browser without a session ends after this, unless it is the last of its kind. */
    idleMs: 30_000,
  },

  /** How long an answer of `GET /readyz` stays true: of the state folder, of a browser that started, of one that did not. */
  readiness: { readyMs: 2000, startedMs: 60_000, failedMs: 5000 },

  /** Shortest secret that profiles are encrypted with. */
  profileKeyChars: 16,

  /** Time for what runs when a server is told to end. */
  drain: { secs: 30, maxSecs: 3600 },

  engine: {
    /** A local engine without a session ends after this. */
    idleExitMs: 15 * 60_000,
    startMs: 20_000,
    /** Open calls may finish for so long when an engine is asked to stop. */
    stopGraceMs: 1_000,
    /** A log file that would grow beyond this is moved aside. */
    logBytes: 5 * 1024 * 1024,
    /** Between two checks that the state folder is still the same. */
    ownFolderMs: 1500,
  },

  scrape: scrapeLimits,

  crawl: crawlLimits,

  /**
   * Threads that read pages: at most so many, what each may hold, and how long they stay when there is nothing to read.
   * They read all pages of a crawl from `worthwhile` pages on, and every page from `large` bytes on: one of that size
   * may have been made to keep who reads it busy.
   */
  reading: {
    threads: 8,
    worthwhile: 32,
    large: 512 * 1024,
    /** Of a page that a language model is asked about: the model is asked here, and the page read here too. */
    forModel: 2 * 1024 * 1024,
    heapMb: 2048,
    longestMs: 30_000,
    idleMs: 30_000,
  },

  /** Threads that read PDFs, what each may hold in its heap, and how much the process may grow meanwhile. */
  pdf: { threads: 2, heapMb: 512, bytes: 1024 ** 3, lookMs: 50, longestMs: 30_000, idleMs: 30_000 },

  /** Threads that unpack what takes long. */
  unzstd: { threads: 2, heapMb: 128, longestMs: 30_000, idleMs: 30_000 },

  search: {
    results: 5,
    maxResults: 20,
    queryChars: 2000,
    /** Time for everything, the scraping of the results included. */
    timeoutMs: 60_000,
    maxTimeoutMs: 300_000,
    /** Time for one answer of a provider: of an API, of a result page in a browser that may have to be started. */
    apiMs: 10_000,
    pageMs: 20_000,
    answerBytes: 4 * 1024 * 1024,
    /** Pages of results that one search reads at most. */
    pages: 4,
    /** Results scraped at the same time, and how many of them in tabs of a session. */
    together: 8,
    tabs: 4,
  },

  observe: {
    /** Elements listed unless another number is asked for. */
    elements: 200,
    maxElements: 5000,
    /** Length of snapshot and text unless another one is asked for. */
    chars: 20_000,
    minChars: 500,
    maxChars: 5_000_000,
    /** Time for a whole observation. */
    timeoutMs: 30_000,
    /** Messages and requests that an observation lists. */
    recent: 50,
    settleMs: 500,
    maxSettleMs: 30_000,
    /** A page counts as settled when nothing has changed for so long. */
    quietMs: 100,
  },

  model: {
    /** Time for one answer of a language model, its repetitions included. */
    answerMs: 120_000,
    /** Kept back of a scrape's time for finding out by rules what a model has not answered. */
    rulesMs: 1000,
    /** Repetitions of a request that was refused for load, and the longest pause before one. */
    retries: 2,
    pauseMs: 20_000,
    answerBytes: 4 * 1024 * 1024,
    answerTokens: 8192,
    /** Characters of a page that a model is shown; four of them are about one token. */
    pageChars: 60_000,
  },

  shell: {
    /** Sliding idle time-out, restarted by every call on the session. */
    timeoutSecs: 1800,
    maxTimeoutSecs: 86_400,
    maxLifetimeSecs: 21_600,
    maxMaxLifetimeSecs: 604_800,
    /** Live sessions of one engine. */
    sessions: 64,
    /** How long a stopped session is listed. */
    tombstoneMs: 60 * 60_000,
    /** How long the container of a session that nobody is creating any more may take to appear. */
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
    /** Kept of each of stdout and stderr. */
    outputBytes: 8 * 1024 * 1024,
    maxOutputBytes: 64 * 1024 * 1024,
    commandBytes: 1024 * 1024,
    perSession: 16,
    /** Finished commands that can still be asked about, by number and by their output. */
    kept: 100,
    keptBytes: 32 * 1024 * 1024,
    /** Largest piece of output in one frame. */
    chunkBytes: 32 * 1024,
    /** How long the first bytes of a character wait for the rest of it. */
    tailMs: 50,
    pingMs: 15_000,
    /** Bytes of output that wait for a reader. */
    bufferedBytes: 1024 * 1024,
    /** Bytes of standard input that wait for the program. */
    stdinBytes: 1024 * 1024,
    bodyBytes: 64 * 1024 * 1024,
  },

  files: {
    pathBytes: 4096,
    readBytes: 16 * 1024 * 1024,
    /** Largest body of a write. */
    bodyBytes: 64 * 1024 * 1024,
    /** Largest piece of a file that is asked of a container at once. */
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
    /** Time for one operation on files. */
    timeoutMs: 120_000,
  },

  artifacts: {
    fileBytes: 64 * 1024 * 1024,
    sessionBytes: 256 * 1024 * 1024,
    sessionFiles: 2000,
    depth: 64,
    /** Names of files left out that one artifact lists. */
    skipped: 1000,
    /** How long artifacts are kept after their session has stopped. */
    retentionMs: 24 * 60 * 60_000,
    listed: 100,
  },

  keys: {
    /** The use of a key is written down this often at most. */
    noteMs: 60_000,
    /** What ends with its key does so within this time. */
    lookMs: 500,
    /** Coarsest clock of a file system that is reckoned with. */
    tickMs: 2000,
  },

  egress: egressLimits,

  events: { ring: 1000 },

  relay: relayLimits,

  stream: {
    retryMs: 2000,
    keepAliveMs: 15_000,
    /** How long a broken connection is tried again before the reader gives up. */
    comeBackMs: 60_000,
    /** Pause between two pictures of a page. */
    pictureMs: 60,
  },

  live: {
    /** Tokens of one session beside its first. */
    tokens: 100,
    textChars: 100_000,
    messageChars: 500_000,
    /** What hands can do in a second, and a few times that. */
    messagesPerSec: 500,
    /** A person who has the control and does nothing for so long has gone. */
    idleMs: 5 * 60_000,
    /** Events that a view is shown at once when it opens. */
    events: 100,
    /** A view that lets so much wait is let go. */
    waitingBytes: 16 * 1024 * 1024,
  },
} as const
