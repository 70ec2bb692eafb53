/** Bounds of the relay; part of the one table of limits. Milliseconds in `*Ms`, bytes in `*Bytes`, characters in `*Chars`. */
export const relayLimits = {
  /** Records that a session's ring holds, by number and by the characters of their JSON. */
  events: 10_000,
  eventBytes: 16 * 1024 * 1024,
  /** Characters of one record, and of the texts and addresses in it. */
  recordChars: 32 * 1024,
  textChars: 8 * 1024,
  urlChars: 4 * 1024,
  /** Both ends of a tunnel show a sign of life this often; 2.5 times as long without one is a loss. */
  heartbeatMs: 5000,
  /** A link takes no more while so much of it waits for the network. */
  linkBytes: 256 * 1024,
  /** What may wait for one consumer before it counts as too slow, and the longest message that is put together. */
  channelBytes: 64 * 1024 * 1024,
  messageBytes: 129 * 1024 * 1024,
  /** Events that a connector keeps for an engine that it cannot reach; how it sends them when it can. */
  outboxEvents: 20_000,
  batchMs: 20,
  batchEvents: 500,
  batchChars: 1024 * 1024,
  /** Text bodies of answers, where the user lets them be collected: of one, and of all that the browser keeps. */
  bodyBytes: 256 * 1024,
  bodiesBytes: 32 * 1024 * 1024,
  /** Pauses between a connector's attempts to come back, the longest one, and the one after a server's fault. */
  backoffMs: 200,
  maxBackoffMs: 5_000,
  faultBackoffMs: 30_000,
  /** How long a person may take to allow debugging in the browser's own dialog. */
  approveMs: 120_000,
  /** Time for a browser's port to answer, and for its port file to be whole. */
  portMs: 5_000,
  /** Tabs are asked this often whether they answer. */
  askTabsMs: 5_000,
  /** A session whose connector does not come back within this ends. */
  resumeMs: 120_000,
  /** Time for the first messages of a new tunnel. */
  handshakeMs: 10_000,
  /** Calls of one browser that may be under way, their usual and longest time, and the size of their results and bodies. */
  pendingCalls: 256,
  callMs: 30_000,
  maxCallMs: 600_000,
  resultBytes: 64 * 1024 * 1024,
  maxResultBytes: 128 * 1024 * 1024,
  callBytes: 32 * 1024 * 1024,
  /** Events of one answer, and how long one may wait for the next. */
  pageEvents: 1000,
  maxPageEvents: 10_000,
  waitMs: 60_000,
  tokenSecs: 3600,
  maxTokenSecs: 30 * 86_400,
} as const
