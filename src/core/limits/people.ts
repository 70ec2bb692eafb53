/** Limits of what people and clients answer: dialogs, approvals and handoffs; same units as `limits.ts`. */
export const dialogLimits = {
  /** Time for an answer to a dialog that blocks a command, after which the command fails; with `dialogs: ask` only. */
  answerMs: 3000,
  /** Time for a CDP client to answer a dialog, after which the session's setting applies. */
  clientMs: 5000,
  /** Maximum length of a text for a prompt. */
  textChars: 100_000,
  /** Dialogs listed in the result of a command. */
  perResult: 10,
} as const

/** Actions that wait for a person. */
export const approvalLimits = {
  /** Time that an action waits, by default and at most. */
  timeoutSecs: 300,
  maxTimeoutSecs: 3600,
  /** Actions of one session that can wait at the same time. */
  waiting: 16,
  /** Length of the description of an action, such as an expression. */
  summaryChars: 2000,
  /** Delay between two notices to an agent whose call waits. */
  noticeMs: 10_000,
} as const

/** Sessions that their callers hand over to a person. */
export const handoffLimits = {
  /** Time for the person, by default and at most. */
  timeoutSecs: 900,
  maxTimeoutSecs: 86_400,
  /** Longest time that one request waits for the end. */
  maxWaitSecs: 60,
  reasonChars: 1000,
  untilChars: 2000,
  messageChars: 500,
  /** Ended handoffs of one session that are remembered. */
  remembered: 20,
  /** Interval of checks of the condition. */
  checkMs: 500,
  /** Time for the page to respond after a handoff, and for its observation. */
  responseMs: 3000,
  observeMs: 10_000,
  /** Characters of the reported changes of the page. */
  changeChars: 4000,
  /** Texts that a person typed, which are redacted afterwards: how many, their length, and the shortest. */
  typed: { texts: 1000, chars: 10_000, least: 3, leastInWords: 8 },
} as const
