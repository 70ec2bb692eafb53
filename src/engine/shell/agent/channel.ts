/** Multiplexes calls to one agent over one byte stream: each call has an ID, which its frames carry. */
import { BaxError } from '../../../core/errors/errors.ts'
import { type ContainerEnd, ContainerError, sessionLost } from '../container.ts'
import { Deferred } from './deferred.ts'
import { FrameStream } from './frame-stream.ts'
import { type FrameReader, FrameWriter, fromAgent, ProtocolError, protocolVersion, toAgent } from './frames.ts'

/** Handler of the frames that answer one call. */
export interface Conversation {
  frame(type: number, body: FrameReader): void
  output?(stream: number, bytes: Buffer): void
  /** Called when the system reported an error, or the container is gone. No frames follow. */
  fail(error: Error): void
}

export class AgentChannel {
  readonly #write: (bytes: Uint8Array) => void
  readonly #open = new Map<number, Conversation>()
  readonly #frames = new FrameStream({
    frame: (type, id, body) => this.#onFrame(type, id, body),
    output: (id, stream, bytes) => this.#open.get(id)?.output?.(stream, bytes),
  })
  readonly #hello = new Deferred<void>()
  /** Resolves when the agent has confirmed our protocol version. */
  readonly ready = this.#hello.promise
  #end: ContainerEnd | null = null
  #lastId = 0
  /** Time of the latest data from the agent, in `performance.now()`. */
  receivedAt = performance.now()

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  get end(): ContainerEnd | null {
    return this.#end
  }

  /** Whether a call is pending. */
  get busy(): boolean {
    return this.#open.size > 0
  }

  /** Processes data from the agent. @throws ProtocolError; the stream is unusable afterwards. */
  receive(bytes: Buffer): void {
    this.receivedAt = performance.now()
    this.#frames.push(bytes)
  }

  /** Handles the loss of the container: every pending and future call fails with `session_lost`. */
  lose(end: ContainerEnd): void {
    if (this.#end) return
    this.#end = end
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const handler of open) handler.fail(sessionLost(end))
    this.#hello.reject(sessionLost(end))
  }

  /** Starts a call with its first frame and returns its ID. @throws BaxError `session_lost`. */
  begin(type: number, body: FrameWriter, handler: Conversation): number {
    if (this.#end) throw sessionLost(this.#end)
    do this.#lastId = (this.#lastId % 0xffff_ffff) + 1
    while (this.#open.has(this.#lastId))
    const id = this.#lastId
    this.#open.set(id, handler)
    this.#write(body.frame(type, id))
    return id
  }

  /** Sends another frame of a call; does nothing when the call has ended. */
  send(type: number, id: number, body: FrameWriter = new FrameWriter()): void {
    if (this.#open.has(id) && !this.#end) this.#write(body.frame(type, id))
  }

  /** Ends a call that has received its last frame. */
  finish(id: number): void {
    this.#open.delete(id)
  }

  /** Resolves when the agent answers. @throws BaxError `session_lost`. */
  async ping(): Promise<void> {
    return this.#request(toAgent.ping, () => {})
  }

  /** Kills every process but the agent; returns their number. @throws ContainerError, BaxError `session_lost`. */
  async killAll(): Promise<number> {
    return this.#request(toAgent.killAll, (body) => body.u32())
  }

  #request<T>(type: number, read: (body: FrameReader) => T): Promise<T> {
    const answer = new Deferred<T>()
    const id = this.begin(type, new FrameWriter(), {
      frame: (_type, body) => {
        this.finish(id)
        answer.resolve(read(body))
      },
      fail: answer.reject,
    })
    return answer.promise
  }

  #onFrame(type: number, id: number, body: FrameReader): void {
    if (type === fromAgent.hello) return this.#onHello(body)
    const handler = this.#open.get(id)
    // The frame was in transit when the call ended.
    if (!handler) return
    if (type !== fromAgent.failed) return handler.frame(type, body)
    const number = body.u32()
    const during = body.bytes().toString()
    this.finish(id)
    handler.fail(new ContainerError(errorNames[number] ?? `E${number}`, during))
  }

  #onHello(body: FrameReader): void {
    const version = body.u32()
    if (version === protocolVersion) return this.#hello.resolve()
    const message = `the agent speaks version ${version}, the engine ${protocolVersion}`
    this.#hello.reject(new BaxError('internal_error', message))
  }
}

/** @throws ProtocolError always, for a frame type that the call does not expect. */
export function unexpected(type: number): never {
  throw new ProtocolError(`an unexpected frame of type ${type}`)
}

/** Names of Linux error numbers, identical on x64 and arm64; the engine may run on another system. */
const errorNames: Record<number, string> = {
  1: 'EPERM',
  2: 'ENOENT',
  3: 'ESRCH',
  4: 'EINTR',
  5: 'EIO',
  6: 'ENXIO',
  7: 'E2BIG',
  8: 'ENOEXEC',
  9: 'EBADF',
  10: 'ECHILD',
  11: 'EAGAIN',
  12: 'ENOMEM',
  13: 'EACCES',
  14: 'EFAULT',
  16: 'EBUSY',
  17: 'EEXIST',
  18: 'EXDEV',
  19: 'ENODEV',
  20: 'ENOTDIR',
  21: 'EISDIR',
  22: 'EINVAL',
  23: 'ENFILE',
  24: 'EMFILE',
  25: 'ENOTTY',
  26: 'ETXTBSY',
  27: 'EFBIG',
  28: 'ENOSPC',
  29: 'ESPIPE',
  30: 'EROFS',
  31: 'EMLINK',
  32: 'EPIPE',
  36: 'ENAMETOOLONG',
  39: 'ENOTEMPTY',
  40: 'ELOOP',
  75: 'EOVERFLOW',
  95: 'EOPNOTSUPP',
  110: 'ETIMEDOUT',
  116: 'ESTALE',
  122: 'EDQUOT',
  125: 'ECANCELED',
}
