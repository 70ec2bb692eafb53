/** Limits of the relay; part of `limits.ts`. Milliseconds in `*Ms`, bytes in `*Bytes`, characters in `*Chars`. */
export const relayLimits = {
  /** Records in a session's ring buffer, by number and by the characters of their JSON. */
  events: 10_000,
  eventBytes: 16 * 1024 * 1024,
  /** Characters of one record, and of the texts and URLs in it. */
  recordChars: 32 * 1024,
  textChars: 8 * 1024,
  urlChars: 4 * 1024,
  /** Heartbeat interval of both ends of a tunnel; 2.5 intervals of silence mean that the connection is lost. */
  heartbeatMs: 5000,
  /** Bytes waiting for the network at which a link applies backpressure. */
  linkBytes: 256 * 1024,
  /** Bytes queued for one consumer before it counts as too slow, and the longest message that is assembled. */
  channelBytes: 64 * 1024 * 1024,
  messageBytes: 129 * 1024 * 1024,
  /** Events that a connector buffers while the engine is unreachable, and the batches in which it sends them. */
  outboxEvents: 20_000,
  batchMs: 20,
  batchEvents: 500,
  batchChars: 1024 * 1024,
  /** Text bodies of responses, if the user allows collecting them: of one, and of all in the browser. */
  bodyBytes: 256 * 1024,
  bodiesBytes: 32 * 1024 * 1024,
  /** First and longest delay between a connector's reconnects, and the delay after a server error. */
  backoffMs: 200,
  maxBackoffMs: 5_000,
  faultBackoffMs: 30_000,
  /** Time for a person to allow debugging in the browser's own dialog. */
  approveMs: 120_000,
  /** Time for a browser's debugging port to respond, and for its port file to be complete. */
  portMs: 5_000,
  /** Interval of checking that tabs respond. */
  checkTabsMs: 5_000,
  /** Time for a connector to reconnect before its session ends. */
  resumeMs: 120_000,
  /** Time for the first messages of a new tunnel. */
  handshakeMs: 10_000,
  /** Pending calls of one browser, their default and longest timeout, and the size of their results and bodies. */
  pendingCalls: 256,
  callMs: 30_000,
  maxCallMs: 600_000,
  resultBytes: 64 * 1024 * 1024,
  maxResultBytes: 128 * 1024 * 1024,
  callBytes: 32 * 1024 * 1024,
  /** Events of one response, and the longest wait for the next event. */
  pageEvents: 1000,
  maxPageEvents: 10_000,
  waitMs: 60_000,
  tokenSecs: 3600,
  maxTokenSecs: 30 * 86_400,
} as const
