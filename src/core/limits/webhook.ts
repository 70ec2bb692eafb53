/** Limits of webhooks; same units as `limits.ts`, which includes them. */
export const webhookLimits = {
  headers: 50,
  valueChars: 4000,
  metadataChars: 10_000,
  leastSecretChars: 16,
  secretChars: 500,
  /** Time for one answer of the receiver. */
  answerMs: 10_000,
  /** Tries of one request, and the delay after the first, which quadruples. */
  tries: 4,
  retryMs: 500,
  /** Requests in a row that fail in all tries, after which no more are sent. */
  failures: 3,
} as const
