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
    /** Open ones; further ones are not accepted. */
    most: 16_000,
  },

  /** Of what comes in a request, where a field has no bound of its own. */
  input: {
    /** Lists and objects in one another. */
    depth: 100,
    /** Items of a list, names of an object. */
    items: 10_000,
    fields: 1000,
    /** Names in a list of them (formats, kinds, hosts), and characters of a name or an id. */
    names: 100,
    nameChars: 200,
    /** Faults and unknown fields that an answer lists, and the characters of each. */
    faults: 20,
    faultChars: 300,
  },

  /** What a server takes at once; what is beyond it is refused and not made to wait. */
  overload: {
    /** Scrapes and searches that run or wait for a page, of all callers together. */
    pages: 64,
    /** Bodies of requests in memory, all together. */
    bodyBytes: 512 * 1024 * 1024,
    /** Crawls at work. */
    crawls: 32,
    /** Sessions that wait for a place in a browser. */
    provisions: 100,
    /** When a refused caller may find room; nobody knows how long others take. */
    retryAfterSecs: 2,
  },

  /** What each key of a server may have and do unless its operator says otherwise; see `core/allowance.ts`. */
  caller: { rate: 10, burst: 50, sessions: 20, shells: 8, crawls: 4 },

  /** Answers kept for `Idempotency-Key`. */
  repeats: { keepMs: 24 * 60 * 60_000, kept: 1000, keyChars: 255 },
} as const
