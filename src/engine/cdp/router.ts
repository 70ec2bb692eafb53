/** Routes one CDP connection to a browser between several isolated channels. */
import { BaxError } from '../../core/errors/errors.ts'
import { readMessage } from './message.ts'
import { type CdpFailure, lostCode, noSession, protocolError } from './protocol-errors.ts'

/** A message of the Chrome DevTools Protocol in either direction. */
export interface CdpMessage {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string }
  sessionId?: string
  /** Maximum size of the result, in bytes; read by the connector, never sent to the browser. */
  max_bytes?: number
}

export type Answer = (message: CdpMessage) => void

/** A CDP channel to a local or remote browser, with its own message IDs, sessions and enabled domains. */
export interface CdpChannel {
  /**
   * Calls a method, without `sessionId` at the browser level. Rejects with the protocol's error. A channel to a remote
   * browser rejects results of more than `maxBytes` on the remote side; other channels ignore the limit.
   */
  send(method: string, params?: object, sessionId?: string, maxBytes?: number): Promise<Record<string, unknown>>
  /** Sends a message; the reply has the ID and session of the message. */
  post(message: CdpMessage, answer: Answer): void
  /** Sets the listener for events of this channel's sessions; browser-level events have no `sessionId`. */
  onEvent(listener: (message: CdpMessage) => void): void
  /** Calls the listener once, when the browser or the connection is lost, or the channel is closed. */
  onClose(listener: () => void): void
  close(): void
}

/** Transport of a connection: a pipe or a WebSocket. */
export interface CdpWire {
  send(text: string): void
  /** Sets the handlers, once; `onClose` runs once. */
  handle(handlers: { onMessage(text: string): void; onClose(error?: Error): void }): void
  /** Closes the transport, with a reason for the other side if it violated the protocol. */
  close?(reason?: string): void
}

/**
 * Router over a connection. It assigns its own message IDs; `Target.attachToBrowserTarget` gives every channel a
 * browser-level session, and the sessions that a channel attaches belong to it alone.
 */
export class CdpRouter {
  readonly #wire: CdpWire
  readonly #pending = new Map<number, { readonly sessionId: string | undefined; readonly answer: Answer }>()
  readonly #owners = new Map<string, Channel>()
  readonly #closers = new Set<() => void>()
  #lastId = 0
  #closed: BaxError | undefined

  constructor(wire: CdpWire) {
    this.#wire = wire
    wire.handle({ onMessage: (text) => this.#read(text), onClose: () => this.#fail() })
  }

  get closed(): boolean {
    return this.#closed !== undefined
  }

  /** Calls `listener` once when the connection is lost, at once if it already is; never after `until` is aborted. */
  onClose(listener: () => void, until?: AbortSignal): void {
    if (until?.aborted) return
    if (this.#closed) return listener()
    this.#closers.add(listener)
    until?.addEventListener('abort', () => this.#closers.delete(listener), { once: true })
  }

  /** Opens a channel with its own browser-level session. */
  async openChannel(): Promise<Channel> {
    const { sessionId } = await this.send('Target.attachToBrowserTarget')
    const channel = new Channel(this, sessionId as string)
    this.#owners.set(channel.root, channel)
    return channel
  }

  /** Calls a method on the browser's own session, or on the given one. */
  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>> {
    return sendOver(this, protocolError, method, params, sessionId)
  }

  /** Sends a message under a new ID; passes the reply to `answer`, or an error if the connection is lost first. */
  post(message: CdpMessage, answer: Answer, owner?: Channel): void {
    if (this.#closed) return answer({ error: { code: lostCode, message: this.#closed.message } })
    const id = ++this.#lastId
    const onReply: Answer = (reply) => {
      const attached = reply.result?.['sessionId']
      if (owner && typeof attached === 'string') this.#owners.set(attached, owner)
      answer(reply)
    }
    this.#pending.set(id, { sessionId: message.sessionId, answer: onReply })
    this.#wire.send(JSON.stringify({ ...message, id }))
  }

  /** Removes a channel; its session, and all sessions attached through it, end in the browser too. */
  drop(channel: Channel): void {
    for (const [sessionId, owner] of this.#owners) if (owner === channel) this.#owners.delete(sessionId)
    if (!this.#closed) this.post({ method: 'Target.detachFromTarget', params: { sessionId: channel.root } }, () => {})
  }

  /** Returns whether a session was attached by `channel`. */
  owns(channel: Channel, sessionId: string): boolean {
    return this.#owners.get(sessionId) === channel
  }

  #read(text: string): void {
    if (this.#closed) return
    const message = readMessage(text)
    if (message) return this.#receive(message)
    this.#wire.close?.(noCdp)
    this.#fail()
  }

  #receive(message: CdpMessage): void {
    if (message.id !== undefined) {
      const call = this.#pending.get(message.id)
      this.#pending.delete(message.id)
      call?.answer(message)
      return
    }
    const owner = message.sessionId === undefined ? undefined : this.#owners.get(message.sessionId)
    if (!owner || message.method === undefined) return
    const child = message.params?.['sessionId'] as string
    if (message.method === 'Target.attachedToTarget') this.#owners.set(child, owner)
    owner.deliver(message)
    if (message.method === 'Target.detachedFromTarget') this.#detached(child)
  }

  /** Fails the calls of a session whose page was closed: the browser does not answer them. */
  #detached(sessionId: string): void {
    this.#owners.delete(sessionId)
    for (const [id, call] of this.#pending) {
      if (call.sessionId !== sessionId) continue
      this.#pending.delete(id)
      call.answer({ error: noSession })
    }
  }

  #fail(): void {
    if (this.#closed) return
    this.#closed = new BaxError('worker_lost', 'the browser is gone')
    const channels = new Set(this.#owners.values())
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    this.#owners.clear()
    for (const { answer } of pending) answer({ error: { code: lostCode, message: this.#closed.message } })
    for (const channel of channels) channel.lost()
    for (const listener of this.#closers) listener()
    this.#closers.clear()
  }
}

/** A channel of a router, with its own browser-level session. */
export class Channel implements CdpChannel {
  readonly root: string
  readonly #router: CdpRouter
  #onEvent: ((message: CdpMessage) => void) | undefined
  #onClose: (() => void) | undefined
  #closed = false

  constructor(router: CdpRouter, root: string) {
    this.#router = router
    this.root = root
  }

  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>> {
    return sendOver(this, protocolError, method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId } = message
    const reply: Answer = ({ result, error }) => {
      const known: CdpMessage = { ...(id !== undefined && { id }), ...(sessionId && { sessionId }) }
      answer({ ...known, ...(error ? { error } : { result: result ?? {} }) })
    }
    if (this.#closed) return reply({ error: { code: lostCode, message: 'the connection to the browser is closed' } })
    // The sessions of other channels do not exist for this one.
    if (sessionId !== undefined && sessionId !== this.root && !this.#router.owns(this, sessionId)) {
      return reply({ error: noSession })
    }
    this.#router.post({ ...message, sessionId: sessionId ?? this.root }, reply, this)
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#onEvent = listener
  }

  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  deliver(message: CdpMessage): void {
    if (message.sessionId === this.root) delete message.sessionId
    this.#onEvent?.(message)
  }

  /** Closes the channel after the router has lost the browser. */
  lost(): void {
    if (this.#closed) return
    this.#closed = true
    this.#onClose?.()
  }

  close(): void {
    if (this.#closed) return
    this.lost()
    this.#router.drop(this)
  }
}

/** Close reason for a browser that sends invalid messages. */
export const noCdp = 'it does not speak the DevTools protocol'

/** Calls a method with `post`; rejects with the result of `toError`. */
export function sendOver(
  channel: Pick<CdpChannel, 'post'>,
  toError: (method: string, failure: CdpFailure) => BaxError,
  method: string,
  params: object = {},
  sessionId?: string,
): Promise<Record<string, unknown>> {
  const message = { method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) }
  return new Promise((resolve, reject) => {
    channel.post(message, ({ result, error }) => (error ? reject(toError(method, error)) : resolve(result ?? {})))
  })
}
