/** Many message channels over one link, and the control messages between its two ends (`spec: relay 8`). */
import { limits } from '../../../core/limits/limits.ts'
import { decodeFrame, encodeFrame, pieceBytes } from './frames.ts'
import { closeCodes, type Link } from '../../../core/net/link.ts'

/** A control message; the two ends agree on the rest by its type. */
export interface Control {
  readonly type: string
  readonly [field: string]: unknown
}

export interface TunnelHandlers {
  onControl(message: Control): void
  /** The other side asks for a channel; its messages come once `handle` was called on it. */
  onOpen(channel: TunnelChannel, facts: Control): void
  onClose(code: number, reason: string): void
}

export interface ChannelHandlers {
  onMessage(text: string): void
  /** Takes the messages as UTF-8 instead: who only hands them on need not read them. */
  onUtf8?(text: Buffer): void
  onClose(code: number, reason: string): void
}

/** One end of the tunnel; heartbeats go both ways, and a link that has been silent for too long counts as lost. */
export class Tunnel {
  readonly #link: Link
  readonly #handlers: TunnelHandlers
  readonly #channels = new Map<number, TunnelChannel>()
  /** Channels with something to send, in the order of their turns. */
  #ready: TunnelChannel[] = []
  #flushing = false
  /** The opener of a channel gives it its number: one end has the even ones. */
  #lastChannel: number
  #heardAt = performance.now()
  #beat: NodeJS.Timeout
  #closed = false

  constructor(link: Link, side: 'engine' | 'connector', handlers: TunnelHandlers, heartbeatMs: number) {
    this.#link = link
    this.#handlers = handlers
    this.#lastChannel = side === 'engine' ? 0 : 1
    this.#beat = this.#beatEvery(heartbeatMs)
    link.handle({
      onText: (text) => this.#heard(() => this.#control(text)),
      onBytes: (bytes) => this.#heard(() => this.#frame(bytes)),
      onClose: (code, reason) => this.#end(code, reason),
    })
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The pace that the other end has asked for. */
  set heartbeatMs(ms: number) {
    clearInterval(this.#beat)
    this.#beat = this.#beatEvery(ms)
  }

  send(message: Control): void {
    if (!this.#closed) this.#link.sendText(JSON.stringify(message))
  }

  /** Opens a channel; `facts` tell the other end what it is for. */
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

  /** Called by a channel that has something to send. */
  wants(channel: TunnelChannel): void {
    if (!this.#ready.includes(channel)) this.#ready.push(channel)
    this.#flush()
  }

  /** Called by a channel that its owner has closed. */
  dropped(channel: TunnelChannel, code: number, reason: string): void {
    this.#channels.delete(channel.number)
    this.#ready = this.#ready.filter((other) => other !== channel)
    this.send({ type: 'close', ch: channel.number, code, reason })
  }

  #beatEvery(ms: number): NodeJS.Timeout {
    const beat = setInterval(() => {
      // Beats come 2.5 times too late: the network is gone, whatever the socket believes.
      if (performance.now() - this.#heardAt > ms * 2.5) {
        this.#link.drop()
        this.#end(closeCodes.lost, 'nothing was heard of the other side')
      } else this.send({ type: 'beat' })
    }, ms)
    return beat.unref()
  }

  #heard(then: () => void): void {
    this.#heardAt = performance.now()
    if (this.#closed) return
    try {
      then()
    } catch (error) {
      this.close(closeCodes.protocol, (error as Error).message.slice(0, 100))
    }
  }

  #control(text: string): void {
    const message = JSON.parse(text) as Control
    if (message === null || typeof message !== 'object' || typeof message.type !== 'string') {
      throw new TypeError('a control message has a type')
    }
    if (message.type === 'beat') return
    const number = message['ch']
    if (message.type === 'open') {
      if (typeof number !== 'number' || this.#channels.has(number) || number % 2 === this.#lastChannel % 2) {
        throw new TypeError('a channel is opened under a number of its own')
      }
      const channel = new TunnelChannel(this, number)
      this.#channels.set(number, channel)
      this.#handlers.onOpen(channel, message)
    } else if (message.type === 'close') {
      const channel = this.#channels.get(number as number)
      this.#channels.delete(number as number)
      channel?.ended(Number(message['code']), String(message['reason'] ?? ''))
    } else this.#handlers.onControl(message)
  }

  #frame(bytes: Uint8Array): void {
    const { channel, last, piece } = decodeFrame(bytes)
    // What was under way when a channel was closed has nobody to read it.
    this.#channels.get(channel)?.received(piece, last)
  }

  /** A frame of each channel in turn, as long as the link takes more. */
  #flush = (): void => {
    if (this.#flushing) return
    this.#flushing = true
    while (!this.#closed && this.#link.buffered < limits.relay.linkBytes) {
      const channel = this.#ready.shift()
      if (!channel) break
      const { piece, last } = channel.nextPiece()
      if (channel.hasMore) this.#ready.push(channel)
      this.#link.sendBytes(encodeFrame({ channel: channel.number, piece, last }), this.#flush)
    }
    this.#flushing = false
  }

  #end(code: number, reason: string): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#beat)
    this.#ready = []
    for (const channel of this.#channels.values()) channel.ended(closeCodes.relayGone, reason)
    this.#channels.clear()
    this.#handlers.onClose(code, reason)
  }
}

/** One stream of messages within a tunnel; messages keep their order, and long ones do not hold up other channels. */
export class TunnelChannel {
  readonly number: number
  readonly #tunnel: Tunnel
  readonly #outbox: { readonly bytes: Buffer; readonly isAnswer: boolean }[] = []
  #sent = 0
  /** Bytes in the queue, and those of answers among them. */
  #waiting = 0
  #answers = 0
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  #handlers: ChannelHandlers | undefined
  #early: ((handlers: ChannelHandlers) => void)[] = []
  readonly #onEnd: (() => void)[] = []
  #closed = false

  constructor(tunnel: Tunnel, number: number) {
    this.#tunnel = tunnel
    this.number = number
  }

  /** Has to be called once; what came before is delivered then. */
  handle(handlers: ChannelHandlers): void {
    this.#handlers = handlers
    for (const event of this.#early.splice(0)) event(handlers)
  }

  /** Runs `listener` once when the channel has ended, whichever side ended it. */
  onEnd(listener: () => void): void {
    if (this.#closed) listener()
    else this.#onEnd.push(listener)
  }

  /** Queues a message; a channel whose queue grows beyond its limit is closed as too slow. */
  send(text: string): void {
    if (this.#closed) return
    const bytes = Buffer.from(text)
    if (this.#waiting - this.#answers + bytes.length <= limits.relay.channelBytes) return this.#queue(bytes, false)
    this.close(closeCodes.slow, 'the other side does not keep up')
    this.#tell((handlers) => handlers.onClose(closeCodes.slow, 'the other side does not keep up'))
  }

  /** Queues an answer, which may be longer than the limit of the queue; returns false if there is no room for it. */
  answer(bytes: Buffer): boolean {
    if (this.#closed) return true
    if (this.#answers + bytes.length > limits.relay.messageBytes) return false
    this.#queue(bytes, true)
    return true
  }

  #queue(bytes: Buffer, isAnswer: boolean): void {
    this.#waiting += bytes.length
    if (isAnswer) this.#answers += bytes.length
    this.#outbox.push({ bytes, isAnswer })
    this.#tunnel.wants(this)
  }

  /** Ends the channel on both sides; the closing side is not told. */
  close(code: number = closeCodes.done, reason = ''): void {
    if (this.#closed) return
    this.#finish()
    this.#tunnel.dropped(this, code, reason)
  }

  get hasMore(): boolean {
    return this.#outbox.length > 0
  }

  /** The next frame's worth of the oldest message; only while `hasMore`, or right after `send`. */
  nextPiece(): { piece: Uint8Array; last: boolean } {
    const { bytes: message, isAnswer } = this.#outbox[0]!
    const piece = message.subarray(this.#sent, this.#sent + pieceBytes)
    this.#sent += piece.length
    this.#waiting -= piece.length
    if (isAnswer) this.#answers -= piece.length
    const last = this.#sent === message.length
    if (last) {
      this.#outbox.shift()
      this.#sent = 0
    }
    return { piece, last }
  }

  /** Called by the tunnel with every frame. */
  received(piece: Uint8Array, last: boolean): void {
    this.#pieceBytes += piece.length
    if (this.#pieceBytes > limits.relay.messageBytes) throw new RangeError('a message is too long')
    this.#pieces.push(piece)
    if (!last) return
    const text = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#pieceBytes = 0
    this.#tell((handlers) => (handlers.onUtf8 ? handlers.onUtf8(text) : handlers.onMessage(text.toString())))
  }

  /** Called by the tunnel when the other side, or the tunnel, has ended the channel. */
  ended(code: number, reason: string): void {
    if (this.#closed) return
    this.#finish()
    this.#tell((handlers) => handlers.onClose(code, reason))
  }

  #finish(): void {
    this.#closed = true
    this.#outbox.length = 0
    for (const listener of this.#onEnd.splice(0)) listener()
  }

  #tell(event: (handlers: ChannelHandlers) => void): void {
    if (this.#handlers) event(this.#handlers)
    else this.#early.push(event)
  }
}
