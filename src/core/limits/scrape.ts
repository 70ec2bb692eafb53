/** Defaults and limits of scrapes; same units as `limits.ts`, which includes them. */
export const scrapeLimits = {
  timeoutMs: 30_000,
  maxTimeoutMs: 300_000,
  waitForMs: 60_000,
  actions: 50,
  /** Characters that all actions of one scrape may produce together, as JSON. */
  productChars: 64 * 1024 * 1024,
  /** Decoded size at which a body is abandoned. */
  bodyBytes: 10 * 1024 * 1024,
  /**
   * Elements of a page's HTML. The longest real pages (single-page specifications) have fewer. An element takes up to
   * 4 KB during extraction, so that tags alone could exhaust the memory of a process.
   */
  elements: 250_000,
  /** Characters of all values of the format attributes, together. */
  attributeChars: 10_000_000,
  redirects: 10,
  /** A `<meta http-equiv=refresh>` with a longer delay is no redirect. */
  refreshSecs: 5,
  /** How long to wait for changes of a page after it has loaded. */
  settleMs: 2000,
  /** How long to wait for a page that shows no text, a spinner or a notice. */
  emptyMs: 10_000,
  /** A renderer that has not responded for this long is busy in a script. */
  busyMs: 4000,
  /** Time reserved for reading a page that never finishes loading: a share of the timeout, and at least this. */
  reserveShare: 1 / 6,
  reserveMs: 1500,
  /** Time reserved for returning a page as it was fetched. */
  fallbackMs: 1000,
  elementMs: 10_000,
  /** Timeout for one frame of a page. */
  frameMs: 5000,
  /**
   * Timeout for llms.txt, the bytes of it that are read (fewer than `reading.large`, because the main thread parses
   * them), and how long facts about the Markdown of a site are remembered for `prefer_markdown`.
   */
  llmsMs: 5000,
  llmsBytes: 384 * 1024,
  llmsKeptMs: 600_000,
  /** Pages rendered concurrently: minimum, maximum, and number per processor in between. */
  pages: 4,
  mostPages: 16,
  pagesPerProcessor: 4,
  /** Pages after which a tab is replaced, to release the memory of its renderer and cache. */
  pagesPerTab: 100,
  /** Pages after which a renderer's garbage is collected. */
  collectEvery: 10,
  /** Idle time after which a rendering browser ends. */
  idleMs: 30_000,
  /** Idle rendering browsers of all keys; further ones end at once. */
  idleBrowsers: 8,
  /** Answers cached for `max_age`, by number and by characters. */
  cachedAnswers: 200,
  cachedChars: 64 * 1024 * 1024,
} as const

/** Limits of the format changeTracking. */
export const changeLimits = {
  changes: {
    /** Length of a page's Markdown that can be tracked. */
    versionChars: 2 * 1024 * 1024,
    /** Versions of each key, and their total size; Redis keeps them in memory. */
    versions: 20_000,
    bytes: 512 * 1024 * 1024,
    fleetBytes: 64 * 1024 * 1024,
    /** Age from which a version is deleted. */
    ageMs: 180 * 86_400_000,
  },
} as const

/** Limits on reading PDFs, office documents and compressed bodies. */
export const documentLimits = {
  /** The process of these threads: the idle time after which it ends, and the documents after which it is replaced. */
  documents: { idleMs: 30_000, tasks: 200 },

  /** Worker threads for PDFs, the heap of each, and how much the process may grow meanwhile. */
  pdf: { threads: 2, heapMb: 512, bytes: 1024 ** 3, pollMs: 50, longestMs: 30_000, idleMs: 30_000 },

  /**
   * Worker threads for office documents, and what one may contain: files, bytes when unpacked, XML elements, cells of its
   * tables, columns of a sheet, repeated empty cells, and nested elements and groups.
   */
  office: {
    threads: 2,
    heapMb: 768,
    longestMs: 30_000,
    idleMs: 30_000,
    files: 10_000,
    unpackedBytes: 64 * 1024 * 1024,
    nodes: 1_500_000,
    cells: 100_000,
    columns: 16_384,
    emptyCells: 64,
    levels: 5000,
  },

  /** Worker threads that decompress large bodies. */
  unzstd: { threads: 2, heapMb: 128, longestMs: 30_000, idleMs: 30_000 },
} as const

/** The identity of a read. */
export const identityLimits = {
  /** Length of a text with cookies, and number of cookies that a read keeps; sites set a few dozen each. */
  cookieChars: 256 * 1024,
  cookies: 3000,
  /** Languages of a location. */
  languages: 20,
  /** Number of proxies in a list, and of lists whose failing proxies an engine knows. */
  proxies: 100,
  proxyLists: 200,
  /** Pages of a read whose proxy is known. */
  proxyPages: 1000,
  /** Time for which a proxy that failed is tried after all others, in milliseconds. */
  proxyRestMs: 60_000,
  /** Failed proxies that an error or a warning names. */
  namedProxies: 5,
  /** Length of the name and the value of a cookie; browsers ignore longer ones. */
  pairChars: 4096,
  /** Timeout for reading the cookies that a page has changed, in milliseconds. */
  leaveMs: 2000,
  /** Longest time for which a cookie is kept, in seconds, as in browsers. */
  lifetimeSecs: 400 * 86_400,
  /** Time for which the signature of a bot is valid, in seconds. */
  signatureSecs: 300,
} as const

/** Single HTTP requests. */
export const requestLimits = {
  timeoutMs: 30_000,
  maxTimeoutMs: 300_000,
  redirects: 10,
  maxRedirects: 50,
  /** Decoded size of a response, by default and at most. */
  responseBytes: 10 * 1024 * 1024,
  maxResponseBytes: 64 * 1024 * 1024,
  /** Size of a body, and of the JSON around it. */
  bodyBytes: 20 * 1024 * 1024,
  inputBytes: 28 * 1024 * 1024,
  /** Time to read the cookies of a session, and to store them. */
  cookiesMs: 10_000,
} as const
