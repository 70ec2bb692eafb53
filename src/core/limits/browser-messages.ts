/** Limits on browser messages and on failures; same units as `limits.ts`, which includes them. */
export const browserMessageLimits = {
  /**
   * Maximum console messages and errors per second: of a page, and of all pages of a browser. Each page can always send
   * `reservedPerSec`. Further messages are dropped, and a notice reports their number. A page that sends more than
   * `endlessPerSec` is closed when more than `lostMessages` or `lostBytes` are dropped without a second's pause, or when
   * more than `lateMessages` or `lostBytes` in a row are more than `lateMs` late, and it has sent them for more than
   * `lateForMs`. A burst of some thousand messages takes that long on a busy machine, too.
   */
  flood: {
    messagesPerSec: 500,
    browserMessagesPerSec: 1000,
    reservedPerSec: 50,
    endlessPerSec: 2000,
    lostMessages: 20_000,
    lostBytes: 32 * 1024 * 1024,
    lateMessages: 5000,
    lateMs: 3000,
    lateForMs: 2000,
  },

  /**
   * Longest message of our own and of a foreign browser, and JSON values in either. Parsing 64 MiB of text or 500,000
   * values takes about 100 ms, during which nothing else runs. Screenshots and bodies of 64 MB fit into a message as
   * base64.
   */
  cdp: {
    messageBytes: 128 * 1024 * 1024,
    foreignBytes: 64 * 1024 * 1024,
    messageValues: 500_000,
    /** Messages of one browser that are processed before other browsers and requests get their turn. */
    messagesPerTurn: 10,
  },

  /** Uncaught errors: log lines about them per minute, and time for an orderly exit after one. */
  faults: { linesPerMin: 20, endMs: 15_000 },
} as const
