/** Limits of the files of a session, and of its recordings. */
export const sessionFileLimits = {
  /** Number of files in a session's folder; their total size is limited by `downloadBytes`. */
  files: 1000,
  /** How long a command waits for the downloads that it started, and for a request that may become one. */
  downloadMs: 10_000,
  downloadStartMs: 5000,
} as const

/** HAR, trace and video. */
export const recordingLimits = {
  /** Time after which a recording ends by itself; its file is kept until it is stopped. */
  maxMs: 30 * 60_000,
  /** Requests of a HAR, the bytes of one body, and of all. */
  harEntries: 10_000,
  bodyBytes: 1024 * 1024,
  bodiesBytes: 32 * 1024 * 1024,
  /** Characters of all URLs and request headers of a HAR. */
  harChars: 32 * 1024 * 1024,
  /** Bodies that are read from the browser at once. */
  readingBodies: 4,
  /** Time for the bodies of the last responses. */
  lastBodiesMs: 2000,
  /** Videos recorded at once by one engine; encoding takes much of a processor. */
  videos: 4,
  videoBytes: 256 * 1024 * 1024,
  videoBitrate: 1_500_000,
  /** Time between two frames that can be shown without the ones before them. */
  keyFrameMs: 5000,
  /** Time for one frame to be encoded. */
  frameMs: 10_000,
} as const

/** Limits of the replay of a session. */
export const replayLimits = {
  /** Size of the file. Copies of pages are left out to keep it, and the file says so. */
  fileBytes: 5_000_000,
  /** Commands with details; later ones are counted. */
  steps: 1000,
  /** Events, and the characters of each text of them, and of results and observations. */
  events: 10_000,
  textChars: 2000,
  observationChars: 20_000,
  /** Characters of one copy of a page; a screenshot replaces a longer one. */
  pageChars: 2_000_000,
  /** Characters of all copies of one session in memory, without repeated parts. */
  chars: 24_000_000,
  /** Characters of the copies of all sessions that have ended; the oldest sessions make room. */
  keptChars: 48_000_000,
  /** Bytes of one image or style sheet, and of all images. */
  resourceBytes: 200_000,
  imagesBytes: 1_500_000,
  /** Time for one copy. */
  captureMs: 2000,
  /** Time for a document that has begun to load. */
  loadMs: 500,
} as const
