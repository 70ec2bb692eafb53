/** One CDP connection to a browser, shared by several consumers that do not see each other. */
import { BaxError } from '../../core/errors/errors.ts'
import { readMessage } from './message.ts'
import { tooLargeCode } from './message-size.ts'

/** A message of the Chrome DevTools Protocol in either direction. */
export interface CdpMessage {
  id?: number
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
  error?: { code: number; message: string }
  sessionId?: string
  /** Largest result that the caller accepts, in bytes; for the connector, never for the browser. */
  max_bytes?: number
}

export type Answer = (message: CdpMessage) => void

/** A consumer's own view of a browser, wherever the browser is: numbers, sessions and domains of its own. */
export interface CdpChannel {
  /**
   * Calls a method; without `sessionId` on the browser level. Rejects with what the protocol answered. A channel to a
   * remote browser refuses a result of more than `maxBytes` there; other channels ignore the limit.
   */
  send(method: string, params?: object, sessionId?: string, maxBytes?: number): Promise<Record<string, unknown>>
  /** Sends a whole message; the reply carries the message's own number and session. */
  post(message: CdpMessage, answer: Answer): void
  /** Hears every event of this channel's sessions; those of the browser level have no `sessionId`. */
  onEvent(listener: (message: CdpMessage) => void): void
  /** Runs once, when the browser or the way to it is gone, or the channel was closed. */
  onClose(listener: () => void): void
  close(): void
}

/** What carries the messages of a connection: a pipe, a websocket. */
export interface CdpWire {
  send(text: string): void
  /** Has to be called once; `onClose` runs once, when nothing more can come. */
  handle(handlers: { onMessage(text: string): void; onClose(fault?: Error): void }): void
  /** Lets go of it; the other side is told what is wrong with it, if anything is. */
  close?(fault?: string): void
}

/**
 * The router over a connection. Requests get numbers of its own; `Target.attachToBrowserTarget` gives every
 * channel a browser-level session, and the sessions that a channel attaches to belong to it alone.
 */
export class CdpRouter {
  readonly #wire: CdpWire
  readonly #pending = new Map<number, Answer>()
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

  /** Runs `listener` once when the connection is gone, at once when it already is; never after `until`. */
  onClose(listener: () => void, until?: AbortSignal): void {
    if (until?.aborted) return
    if (this.#closed) return listener()
    this.#closers.add(listener)
    until?.addEventListener('abort', () => this.#closers.delete(listener), { once: true })
  }

  /** A browser-level session for one consumer. */
  async openChannel(): Promise<Channel> {
    const { sessionId } = await this.send('Target.attachToBrowserTarget')
    const channel = new Channel(this, sessionId as string)
    this.#owners.set(channel.root, channel)
    return channel
  }

  /** Sends on the browser's own session, or on the given one. */
  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.post({ method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) }, (answer) => {
        if (answer.error) reject(protocolError(method, answer.error))
        else resolve(answer.result ?? {})
      })
    })
  }

  /** Sends a message under a fresh number; `answer` gets the reply, an error one when the browser goes first. */
  post(message: CdpMessage, answer: Answer, owner?: Channel): void {
    if (this.#closed) return answer({ error: { code: lostCode, message: this.#closed.message } })
    const id = ++this.#lastId
    this.#pending.set(id, (reply) => {
      const attached = reply.result?.['sessionId']
      if (owner && typeof attached === 'string') this.#owners.set(attached, owner)
      answer(reply)
    })
    this.#wire.send(JSON.stringify({ ...message, id }))
  }

  /** Forgets a channel; its session and everything attached through it ends in the browser too. */
  drop(channel: Channel): void {
    for (const [sessionId, owner] of this.#owners) if (owner === channel) this.#owners.delete(sessionId)
    if (!this.#closed) this.post({ method: 'Target.detachFromTarget', params: { sessionId: channel.root } }, () => {})
  }

  /** Whether a session was attached by `channel`. */
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
      const answer = this.#pending.get(message.id)
      this.#pending.delete(message.id)
      answer?.(message)
      return
    }
    const owner = message.sessionId === undefined ? undefined : this.#owners.get(message.sessionId)
    if (!owner || message.method === undefined) return
    const child = message.params?.['sessionId'] as string
    if (message.method === 'Target.attachedToTarget') this.#owners.set(child, owner)
    owner.deliver(message)
    if (message.method === 'Target.detachedFromTarget') this.#owners.delete(child)
  }

  #fail(): void {
    if (this.#closed) return
    this.#closed = new BaxError('worker_lost', 'the browser is gone')
    const channels = new Set(this.#owners.values())
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    this.#owners.clear()
    for (const answer of pending) answer({ error: { code: lostCode, message: this.#closed.message } })
    for (const channel of channels) channel.lost()
    for (const listener of this.#closers) listener()
    this.#closers.clear()
  }
}

/** One consumer's view of the browser: its own browser-level session, under the protocol's usual rules. */
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

  /** Calls a method; without `sessionId` on the browser level. */
  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const message = { method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) }
      this.post(message, (answer) => {
        if (answer.error) reject(protocolError(method, answer.error))
        else resolve(answer.result ?? {})
      })
    })
  }

  /** Sends a whole message; the reply carries the message's own number and session. */
  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId } = message
    const reply: Answer = ({ result, error }) => {
      const known: CdpMessage = { ...(id !== undefined && { id }), ...(sessionId && { sessionId }) }
      answer({ ...known, ...(error ? { error } : { result: result ?? {} }) })
    }
    if (this.#closed) return reply({ error: { code: lostCode, message: 'the channel is closed' } })
    // The sessions of other consumers do not exist for this one.
    if (sessionId !== undefined && sessionId !== this.root && !this.#router.owns(this, sessionId)) {
      return reply({ error: { code: noSessionCode, message: 'Session with given id not found.' } })
    }
    this.#router.post({ ...message, sessionId: sessionId ?? this.root }, reply, this)
  }

  /** Hears every event of this channel's sessions; those of the browser level have no `sessionId`. */
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

  /** Called by the router when the browser is gone. */
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

/** What is wrong with one who says what is no message of the protocol. */
export const noCdp = 'it does not speak the DevTools protocol'

const lostCode = -32_000
/** What Chromium answers for a session that does not exist. */
const noSessionCode = -32_001

function protocolError(method: string, { code, message }: { code: number; message: string }): BaxError {
  if (code === lostCode && message === 'the browser is gone') return new BaxError('worker_lost', message)
  if (code === tooLargeCode) return new BaxError('content_too_large', message)
  return new BaxError('internal_error', `${method}: ${message}`)
}

/** What the protocol answered a caller who asked for this very method. */
export const cdpError = (method: string, { code, message }: { code: number; message: string }): BaxError =>
  new BaxError('cdp_error', message, { details: { code, message, method } })
