/** Multiplexes message channels over one link, next to control messages of both ends (`spec: relay 8`). */
import { limits } from '../../../core/limits/limits.ts'
import { decodeFrame, encodeFrame, pieceBytes } from './frames.ts'
import type { FromConnector, FromEngine } from './messages.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'

/** Control message; the other fields depend on its type. */
export interface Control {
  readonly type: string
  readonly [field: string]: unknown
}

export interface TunnelHandlers {
  onControl(message: Control): void
  /** Called when the other side opens a channel; messages are delivered once `handle` was called on it. */
  onOpen(channel: TunnelChannel, facts: Control): void
  onClose(code: number, reason: string): void
}

export interface ChannelHandlers {
  /** Receives messages as UTF-8, so that they can be forwarded without decoding. */
  onMessage(text: Buffer): void
  onClose(code: number, reason: string): void
}

/** One end of the tunnel. Both send heartbeats; a link that is silent for too long counts as lost. */
export class Tunnel {
  readonly #link: Link
  readonly #handlers: TunnelHandlers
  readonly #channels = new Map<number, TunnelChannel>()
  /** Channels with data to send, in round-robin order. */
  #ready: TunnelChannel[] = []
  #flushing = false
  /** Number of the last opened channel: the engine uses even numbers, the connector odd ones. */
  #lastChannel: number
  #receivedAt = performance.now()
  #heartbeat: NodeJS.Timeout | undefined
  #closed = false

  constructor(link: Link, side: 'engine' | 'connector', handlers: TunnelHandlers, heartbeatMs: number) {
    this.#link = link
    this.#handlers = handlers
    this.#lastChannel = side === 'engine' ? 0 : 1
    this.heartbeatMs = heartbeatMs
    link.handle({
      onText: (text) => this.#receive(() => this.#control(text)),
      onBytes: (bytes) => this.#receive(() => this.#frame(bytes)),
      onClose: (code, reason) => this.#end(code, reason),
    })
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Sets the heartbeat interval; the other end may request another one. */
  set heartbeatMs(ms: number) {
    clearInterval(this.#heartbeat)
    let checkedAt = performance.now()
    this.#heartbeat = setInterval(() => {
      const now = performance.now()
      // After a large message or a suspension of the machine, what the other side sent has not been read yet.
      const isLate = now - checkedAt > ms * 1.5
      checkedAt = now
      // After 2.5 intervals of silence the network is lost, whatever the socket reports.
      if (!isLate && now - this.#receivedAt > ms * 2.5) {
        this.#link.drop()
        this.#end(closeCodes.lost, 'the other side stopped responding')
      } else this.send({ type: 'beat' })
    }, ms).unref()
  }

  send(message: FromConnector | FromEngine | Control): void {
    if (!this.#closed) this.#link.sendText(JSON.stringify(message))
  }

  /** Opens a channel; `facts` describe its purpose to the other end. */
  open(facts: Omit<Control, 'type'>): TunnelChannel {
    this.#lastChannel += 2
    const channel = new TunnelChannel(this, this.#lastChannel)
    this.#channels.set(channel.number, channel)
    this.send({ ...facts, type: 'open', ch: channel.number })
    return channel
  }

  close(code: number, reason: string): void {
    if (this.#closed) return
    this.#link.close(code, reason)
    this.#end(code, reason)
  }

  /** Called by a channel with data to send. */
  enqueue(channel: TunnelChannel): void {
    if (!this.#ready.includes(channel)) this.#ready.push(channel)
    this.#flush()
  }

  /** Called by a channel that was closed locally. */
  channelClosed(channel: TunnelChannel, code: number, reason: string): void {
    this.#channels.delete(channel.number)
    this.#ready = this.#ready.filter((other) => other !== channel)
    this.send({ type: 'close', ch: channel.number, code, reason })
  }

  #receive(process: () => void): void {
    this.#receivedAt = performance.now()
    if (this.#closed) return
    try {
      process()
    } catch (error) {
      this.close(closeCodes.protocol, (error as Error).message.slice(0, 100))
    }
  }

  #control(text: string): void {
    const message = JSON.parse(text) as Control
    if (message === null || typeof message !== 'object' || typeof message.type !== 'string') {
      throw new TypeError('a control message must have a type')
    }
    if (message.type === 'beat') return
    const number = message['ch']
    if (message.type === 'open') {
      if (typeof number !== 'number' || this.#channels.has(number) || number % 2 === this.#lastChannel % 2) {
        throw new TypeError('a new channel must have an unused number')
      }
      const channel = new TunnelChannel(this, number)
      this.#channels.set(number, channel)
      this.#handlers.onOpen(channel, message)
    } else if (message.type === 'close') {
      const channel = this.#channels.get(number as number)
      this.#channels.delete(number as number)
      channel?.handleClose(Number(message['code']), String(message['reason'] ?? ''))
    } else this.#handlers.onControl(message)
  }

  #frame(bytes: Uint8Array): void {
    const { channel, last, piece } = decodeFrame(bytes)
    // Frames may still arrive for a closed channel.
    this.#channels.get(channel)?.handlePiece(piece, last)
  }

  /** Sends one frame per channel in turn, as long as the link accepts more. */
  #flush = (): void => {
    if (this.#flushing) return
    this.#flushing = true
    while (!this.#closed && this.#link.buffered < limits.relay.linkBytes) {
      const channel = this.#ready.shift()
      if (!channel) break
      const { piece, last, hasMore } = channel.nextPiece()
      if (hasMore) this.#ready.push(channel)
      this.#link.sendBytes(encodeFrame({ channel: channel.number, piece, last }), this.#flush)
    }
    this.#flushing = false
  }

  #end(code: number, reason: string): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#heartbeat)
    this.#ready = []
    for (const channel of this.#channels.values()) channel.handleClose(closeCodes.relayGone, reason)
    this.#channels.clear()
    this.#handlers.onClose(code, reason)
  }
}

/** Message stream within a tunnel; messages stay in order, and long ones do not block other channels. */
export class TunnelChannel {
  readonly number: number
  readonly #tunnel: Tunnel
  readonly #outbox: { readonly bytes: Buffer; readonly isAnswer: boolean }[] = []
  #sent = 0
  /** Bytes in the queue, and the part of it that are responses. */
  #queuedBytes = 0
  #answerBytes = 0
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #handlers: ChannelHandlers | undefined
  #pending: ((handlers: ChannelHandlers) => void)[] = []
  readonly #onEnd: (() => void)[] = []
  #closed = false

  constructor(tunnel: Tunnel, number: number) {
    this.#tunnel = tunnel
    this.number = number
  }

  /** Sets the handlers, once; delivers the messages that arrived before. */
  handle(handlers: ChannelHandlers): void {
    this.#handlers = handlers
    for (const event of this.#pending.splice(0)) event(handlers)
  }

  /** Runs `listener` once when the channel has ended on either side. */
  onEnd(listener: () => void): void {
    if (this.#closed) listener()
    else this.#onEnd.push(listener)
  }

  /** Queues a message; closes the channel as too slow when its queue exceeds the limit. */
  send(text: string): void {
    if (this.#closed) return
    const bytes = Buffer.from(text)
    if (this.#queuedBytes - this.#answerBytes + bytes.length <= limits.relay.channelBytes)
      return this.#queue(bytes, false)
    this.close(closeCodes.slow, 'the other side does not keep up')
    this.#dispatch((handlers) => handlers.onClose(closeCodes.slow, 'the other side does not keep up'))
  }

  /** Queues a response, which may exceed the limit of the queue; returns false if there is no room for it. */
  answer(bytes: Buffer): boolean {
    if (this.#closed) return true
    if (this.#answerBytes + bytes.length > limits.relay.messageBytes) return false
    this.#queue(bytes, true)
    return true
  }

  #queue(bytes: Buffer, isAnswer: boolean): void {
    this.#queuedBytes += bytes.length
    if (isAnswer) this.#answerBytes += bytes.length
    this.#outbox.push({ bytes, isAnswer })
    this.#tunnel.enqueue(this)
  }

  /** Closes the channel on both sides without notifying the own handlers. */
  close(code: number = closeCodes.done, reason = ''): void {
    if (this.#closed) return
    this.#finish()
    this.#tunnel.channelClosed(this, code, reason)
  }

  /** Returns the next piece of the oldest message; only valid while there is one. */
  nextPiece(): { piece: Uint8Array; last: boolean; hasMore: boolean } {
    const { bytes: message, isAnswer } = this.#outbox[0]!
    const piece = message.subarray(this.#sent, this.#sent + pieceBytes)
    this.#sent += piece.length
    this.#queuedBytes -= piece.length
    if (isAnswer) this.#answerBytes -= piece.length
    const last = this.#sent === message.length
    if (last) {
      this.#outbox.shift()
      this.#sent = 0
    }
    return { piece, last, hasMore: this.#outbox.length > 0 }
  }

  /** Called by the tunnel for every frame. */
  handlePiece(piece: Uint8Array, last: boolean): void {
    this.#pieceBytes += piece.length
    if (this.#pieceBytes > limits.relay.messageBytes) throw new RangeError('a message is too long')
    this.#pieces.push(piece)
    if (!last) return
    const text = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#dispatch((handlers) => handlers.onMessage(text))
  }

  /** Called by the tunnel when the other side, or the tunnel, has closed the channel. */
  handleClose(code: number, reason: string): void {
    if (this.#closed) return
    this.#finish()
    this.#dispatch((handlers) => handlers.onClose(code, reason))
  }

  #finish(): void {
    this.#closed = true
    this.#outbox.length = 0
    for (const listener of this.#onEnd.splice(0)) listener()
  }

  #dispatch(event: (handlers: ChannelHandlers) => void): void {
    if (this.#handlers) event(this.#handlers)
    else this.#pending.push(event)
  }
}
