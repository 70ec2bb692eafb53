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
