/** Limits of MCP connections. */
export const mcpLimits = {
  /** Leases, which end the sessions of a killed client. */
  lease: {
    /** Time to open a lost lease again before the session ends. */
    graceSecs: 10,
    maxGraceSecs: 600,
    /** Delay before a client opens a lost lease again. */
    retryMs: 1000,
  },
  mcp: {
    /** Idle timeout and lifetime of sessions that a connection opens; they end with the connection. */
    sessionIdleSecs: 1800,
    sessionSecs: 86_400,
    /** Idle timeout of sessions and containers whose client has no connection. */
    handleIdleSecs: 900,
    /** Sessions, and shells, that a connection may hold. */
    held: 20,
    /** Attempts to end each of them, and the time between two. */
    endAttempts: 3,
    endRetryMs: 1000,
    /** Commands of one call, and characters of each. */
    commands: 50,
    commandChars: 100_000,
    /** Length of a text, and of an observation, in a response; the tools accept a higher one. */
    pageChars: 12_000,
    viewChars: 8000,
    /** Images and documents that a connection keeps as resources, and their total bytes. */
    stored: 50,
    storedBytes: 64 * 1024 * 1024,
    /** Time after which a running crawl is reported by its ID, and a map with the URLs found so far. Clients abandon requests after 60 s by default. */
    answerMs: 45_000,
    /** Calls of a process, waiting or done, whose results clients may ask for after a question. */
    pending: 50,
    /** Results of such calls on a server: time to keep them, and their number for one caller. */
    repeats: { keepMs: 15 * 60_000, kept: 100 },
    /** Interval at which clients may ask for the state of a task. */
    pollMs: 1000,
    /** Time for which clients may keep the lists of tools and prompts. */
    listMs: 300_000,
    /** Interval of reports while a person is waited for, in seconds. */
    handoffPollSecs: 5,
    /** Pages with matches of a search in crawled pages, passages of each, and characters around a match. */
    matches: 10,
    matchesOfPage: 2,
    matchChars: 120,
    /** Crawled pages in one response. */
    crawledPages: 10,
    /** Pages, URLs or entries listed in one response. */
    listed: 100,
    /** HTTP connections of all callers and of one key, and the time until one without requests ends. */
    connections: 200,
    connectionsOfKey: 20,
    idleMs: 30 * 60_000,
    /** Time that a client whose stream was cut has to resume it. */
    resumeMs: 60_000,
    /** Messages, and their bytes, that an HTTP connection keeps to resume a stream. */
    resumable: 500,
    resumableBytes: 16 * 1024 * 1024,
    messageBytes: 4 * 1024 * 1024,
  },
} as const
