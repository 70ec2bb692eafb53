/** Bounds of what browsers say, and of what they may break; the units are those of `limits.ts`, of which they are a part. */
export const wireLimits = {
  /**
   * Messages of a page's console, and its errors, that are heard in a second. A page of which so many more, or bytes, are
   * left out without a second's rest is ended, and one of which so many in a row are so late that they pile up.
   */
  flood: {
    messagesPerSec: 2000,
    lostMessages: 20_000,
    lostBytes: 32 * 1024 * 1024,
    lateMessages: 1000,
    lateMs: 3000,
  },

  /**
   * Longest message of a browser, and of one that somebody else runs; JSON values in either. Parsing 64 MiB of text, or
   * 500,000 values, takes about 100 ms, during which nothing else runs. Screenshots and bodies of 64 MB fit into a message
   * as base64.
   */
  cdp: { messageBytes: 128 * 1024 * 1024, foreignBytes: 64 * 1024 * 1024, messageValues: 500_000 },

  /** Faults that nobody caught: lines of the log that tell of them in a minute, and time for an end in order after one. */
  faults: { linesPerMin: 20, endMs: 15_000 },
} as const
