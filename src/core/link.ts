/** A duplex link that carries whole messages: a websocket, or two ends within one process. */

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
