/** A duplex link that carries whole messages: a websocket, or two ends within one process. */

/** Why a link ends; the codes from 4000 on are ours (`spec: relay 8`). */
export const closeCodes = {
  done: 1000,
  away: 1001,
  lost: 1006,
  protocol: 4000,
  replaced: 4001,
  deleted: 4400,
  expired: 4401,
  revoked: 4403,
  relayGone: 4410,
  browserGone: 4411,
  slow: 4413,
  version: 4426,
} as const

export interface LinkHandlers {
  onText(text: string): void
  onBytes(bytes: Uint8Array): void
  /** Called once, for either side's close and for a lost connection (code 1006). */
  onClose(code: number, reason: string): void
}

export interface Link {
  /** Bytes that were sent and have not left yet. */
  readonly buffered: number
  /** Has to be called once, before anything is received. */
  handle(handlers: LinkHandlers): void
  /** Text, as a string or as its UTF-8. */
  sendText(text: string | Buffer): void
  /** `onSent` runs when the bytes have left, so that a sender can go on. */
  sendBytes(bytes: Uint8Array, onSent: () => void): void
  /** Says why, and ends; a second call does nothing. */
  close(code: number, reason: string): void
  /** Ends at once, without a word to a side that does not answer. */
  drop(): void
}
