/** A duplex link that carries whole messages: a websocket, or two connected ends within one process. */

/** Close codes; those from 4000 on are specific to bax (`spec: relay 8`). */
export const closeCodes = {
  done: 1000,
  away: 1001,
  lost: 1006,
  protocol: 4000,
  replaced: 4001,
  deleted: 4400,
  expired: 4401,
  revoked: 4403,
  /** A session has the name. */
  taken: 4409,
  relayGone: 4410,
  browserGone: 4411,
  slow: 4413,
  version: 4426,
} as const

export interface LinkHandlers {
  onText(text: string): void
  onBytes(bytes: Uint8Array): void
  /** Called once: when either side closes, or the connection is lost (code 1006). */
  onClose(code: number, reason: string): void
}

export interface Link {
  /** Bytes sent but not yet written to the network. */
  readonly buffered: number
  /** Sets the handlers. Must be called once, before anything is received. */
  handle(handlers: LinkHandlers): void
  /** Sends text, given as a string or as UTF-8. */
  sendText(text: string | Buffer): void
  /** Sends bytes; `onSent` runs once they have been written, so that the sender can continue. */
  sendBytes(bytes: Uint8Array, onSent: () => void): void
  /** Closes the link with a reason; a second call does nothing. */
  close(code: number, reason: string): void
  /** Terminates the link at once, without a close handshake. */
  drop(): void
}
