/** Limits on dialogs of pages; part of `limits.ts`. Milliseconds in `*Ms`. */
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
