/** Limits of routes, recorded requests, emulation and init scripts of a session; same units as `limits.ts`. */
export const pageControlLimits = {
  network: {
    /** Routes of one session, and the bodies of all of them together. */
    routes: 100,
    routeBytes: 16 * 1024 * 1024,
    /** Header fields that a caller may set, and the length of each value. */
    headers: 100,
    headerChars: 8192,
    /** Requests that a session remembers, and the bytes of their URLs and of what they send. */
    requests: 500,
    requestBytes: 32 * 1024 * 1024,
    /** Body that a page sends, above which it is not kept; counted as text and as base64. */
    sentBodyChars: 4 * 1024 * 1024,
    /** Characters of a URL that globs are compared with: a page may request many URLs of megabytes. */
    matchedChars: 16 * 1024,
    /** Default number of requests listed. */
    listed: 100,
    /** Default and maximum size of the bodies that `get_request` returns. */
    bodyBytes: 64 * 1024,
    maxBodyBytes: 8 * 1024 * 1024,
    /** Time for the headers and the body of a request. */
    detailsMs: 5000,
  },
  emulation: {
    minSide: 1,
    maxSide: 10_000,
    maxScale: 10,
    /** Time for all tabs to accept a setting. */
    applyMs: 10_000,
  },
  initScripts: { scripts: 50, chars: 500_000, totalChars: 2_000_000 },

  /** Tools of pages. */
  pageTools: {
    nameChars: 200,
    frameChars: 4096,
    /** Characters of a description, and of a schema as JSON. */
    textChars: 2000,
    schemaChars: 20_000,
    defaultChars: 20_000,
    /** Names in an observation. */
    observed: 20,
  },
} as const
