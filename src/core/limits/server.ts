/** Limits on requests to a server; part of `limits.ts`. Milliseconds in `*Ms`, bytes in `*Bytes`. */
export const serverLimits = {
  /** Limits of connections. */
  connection: {
    /** Request line and headers. */
    headerBytes: 32 * 1024,
    /** Time for the headers, for a JSON body, and for an upload; interval of checking them. */
    headersMs: 20_000,
    bodyMs: 5 * 60_000,
    requestMs: 6 * 3_600_000,
    checkMs: 5000,
    /** How long a connection may wait for its next request. */
    idleMs: 60_000,
    /** Time for a client to close its side after an error response that ends the connection. */
    lingerMs: 1000,
    /** Time for the rest of a body whose request has been answered, while its client does not pause for `lingerMs`. */
    restMs: 30_000,
    /** Open connections; further ones are not accepted. */
    most: 16_000,
  },

  /** Limits of inputs whose field has none of its own. */
  input: {
    /** Nesting of lists and objects, and total number of values: parsing them blocks the process. */
    depth: 100,
    values: 250_000,
    /** Items of a list, fields of an object. */
    items: 10_000,
    fields: 1000,
    /** Names in a list of names (formats, kinds, hosts), and characters of a name or ID. */
    names: 100,
    nameChars: 200,
    /** Characters of a token or a cursor, of a URL (Chromium's own limit) and of a selector. */
    tokenChars: 2000,
    urlChars: 2 * 1024 * 1024,
    selectorChars: 10_000,
    /** Characters that one command types, and of filters, labels and patterns without a limit of their own. */
    typedChars: 1_000_000,
    labelChars: 1000,
    /** Characters of the HTML above or below printed pages. */
    templateChars: 20_000,
    /** A JSON schema: its characters as JSON, its subschemas, and its nesting of objects and lists. */
    schema: { chars: 64 * 1024, parts: 500, depth: 64 },
    /** Characters, as JSON, of the caller's context of a batch, which is stored with each of its events. */
    contextChars: 8 * 1024,
    /** Field errors and unknown fields that a response lists, and the characters of each. */
    faults: 20,
    faultChars: 300,
  },

  /** Load that a server accepts at once; requests beyond it are rejected and not queued. */
  overload: {
    /** Share of slots and of body memory that one key may use. */
    partOfKey: 0.5,
    /** Scrapes and searches that run or wait for a page, over all callers. */
    pages: 64,
    /** Memory for request bodies, and the same again for incomplete websocket messages. */
    bodyBytes: 512 * 1024 * 1024,
    /** Running crawls. */
    crawls: 32,
    /** Sessions that wait for a browser slot. */
    provisions: 100,
    /** Suggested delay of rejected callers; the actual wait is unknown. */
    retryAfterSecs: 2,
  },

  /** Shares of keys in the processors and the memory of this machine. */
  browserShares: {
    /** Interval of measurements. */
    everyMs: 500,
    /** Heap of the thread that measures, in megabytes, and time after the last browser after which it ends. */
    heapMb: 32,
    idleMs: 10_000,
    /** Number of processors from which a key counts as active, and a process as busy. */
    activeCores: 0.02,
    busyCores: 0.1,
    /** Factor by which a key may exceed an equal share. */
    tolerance: 1.25,
    /** Consecutive measurements beyond the share of a key after which the priority of its busy processes is lowered. */
    excesses: 3,
    /**
     * Consecutive measurements in which a process was not busy after which its priority is restored; more of them while
     * others leave it nothing, as it may only seem calm.
     */
    calms: 10,
    busyCalms: 60,
    /** Measurements after which all processes of the machine are listed again, as their IDs are reused. */
    relistEvery: 20,
    /** Time for a crash to be reported after a process was ended because of its memory. */
    reportMs: 10_000,
  },

  /** Default limits of each key of a server; see `core/access/quota.ts`. */
  caller: { rate: 10, burst: 50, sessions: 20, shells: 8, crawls: 4, relays: 20, credentials: 500 },

  /**
   * Concurrent websockets, and as many streams: of one key, of one token without a key, and opened by tokens to one
   * session.
   */
  openEnds: { ofKey: 100, ofToken: 50, ofSession: 50 },

  /**
   * Longest websocket message; a longer one closes the websocket. A CDP client sends a file to a page as one message:
   * Playwright sends up to 50 MiB, which base64 makes a third longer.
   */
  messages: { liveBytes: 1024 * 1024, cdpBytes: 72 * 1024 * 1024, tunnelBytes: 8 * 1024 * 1024 },

  /** Characters of the events in the log of one session. */
  eventChars: 16 * 1024 * 1024,

  /** Responses stored for `Idempotency-Key`. */
  repeats: { keepMs: 24 * 60 * 60_000, kept: 1000, keyChars: 255 },
} as const
