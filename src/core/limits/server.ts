/** Bounds of a server on what reaches it; part of the one table of limits. Milliseconds in `*Ms`, bytes in `*Bytes`. */
export const serverLimits = {
  /** Of a connection to a server. */
  connection: {
    /** Address and headers of a request. */
    headerBytes: 32 * 1024,
    /** Time for the headers of a request, for a body of JSON, and for an upload; how often that is looked at. */
    headersMs: 20_000,
    bodyMs: 5 * 60_000,
    requestMs: 6 * 3_600_000,
    checkMs: 5000,
    /** How long one may wait for its next request. */
    idleMs: 60_000,
    /** How long a client may take to close its side after an error response that ends the connection. */
    lingerMs: 1000,
    /** Open ones; further ones are not accepted. */
    most: 16_000,
  },

  /** Of what comes in a request, where a field has no bound of its own. */
  input: {
    /** Lists and objects in one another, and values altogether: reading them holds everybody up. */
    depth: 100,
    values: 250_000,
    /** Items of a list, names of an object. */
    items: 10_000,
    fields: 1000,
    /** Names in a list of them (formats, kinds, hosts), and characters of a name or an id. */
    names: 100,
    nameChars: 200,
    /** Characters of a token or a cursor, of a URL (Chromium's own limit) and of a selector. */
    tokenChars: 2000,
    urlChars: 2 * 1024 * 1024,
    selectorChars: 10_000,
    /** Characters that one command types, and of the filters, labels and patterns that have no limit of their own. */
    typedChars: 1_000_000,
    labelChars: 1000,
    /** A JSON schema: characters as JSON, schemas in it, and levels of objects and lists. */
    schema: { chars: 64 * 1024, parts: 500, depth: 64 },
    /** Characters, as JSON, of what a caller says of a batch: it is kept with every event of it. */
    contextChars: 8 * 1024,
    /** Faults and unknown fields that an answer lists, and the characters of each. */
    faults: 20,
    faultChars: 300,
  },

  /** What a server takes at once; what is beyond it is refused and not made to wait. */
  overload: {
    /** Of places and of memory for bodies, what one key may have. */
    partOfKey: 0.5,
    /** Scrapes and searches that run or wait for a page, of all callers together. */
    pages: 64,
    /** Bodies of requests in memory, all together, and as much of unfinished messages of websockets. */
    bodyBytes: 512 * 1024 * 1024,
    /** Crawls at work. */
    crawls: 32,
    /** Sessions that wait for a place in a browser. */
    provisions: 100,
    /** When a refused caller may find room; nobody knows how long others take. */
    retryAfterSecs: 2,
  },

  /** What each key of a server may have and do unless its operator says otherwise; see `core/access/quota.ts`. */
  caller: { rate: 10, burst: 50, sessions: 20, shells: 8, crawls: 4 },

  /**
   * Websockets that may be open at a time, and as many streams: those of one key, those of who shows one token and no key,
   * and those that tokens have opened to one session.
   */
  openEnds: { ofKey: 100, ofToken: 50, ofSession: 50 },

  /**
   * Longest message that comes over a websocket; a longer one closes it. A client of CDP sends a file to a page as one
   * message: Playwright takes 50 MiB of it, which base64 makes a third longer.
   */
  messages: { liveBytes: 1024 * 1024, cdpBytes: 72 * 1024 * 1024, tunnelBytes: 8 * 1024 * 1024 },

  /** Characters of the events that the log of one session keeps. */
  eventChars: 16 * 1024 * 1024,

  /** Answers kept for `Idempotency-Key`. */
  repeats: { keepMs: 24 * 60 * 60_000, kept: 1000, keyChars: 255 },
} as const
