/** Conversations with one agent over one stream of bytes: each call has an id, and frames find their call by it. */
import { BaxError } from '../../../core/errors/errors.ts'
import { type ContainerEnd, ContainerFault, sessionLost } from '../container.ts'
import { Deferred } from './deferred.ts'
import { errorName } from './errno.ts'
import { FrameStream } from './frame-stream.ts'
import { type FrameReader, FrameWriter, fromAgent, ProtocolFault, protocolVersion, toAgent } from './frames.ts'

/** What one call makes of the frames that answer it. */
export interface Conversation {
  frame(type: number, body: FrameReader): void
  output?(stream: number, bytes: Buffer): void
  /** The system refused, or the container is gone. Nothing comes after it. */
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
  #end: ContainerEnd | null = null
  #nextId = 1
  /** When the agent was last heard of, in `performance.now()`. */
  heardAt = performance.now()

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write
  }

  /** Resolves when the agent has said that it speaks our version. */
  get ready(): Promise<void> {
    return this.#hello.promise
  }

  get end(): ContainerEnd | null {
    return this.#end
  }

  /** Whether a call waits for the agent. */
  get busy(): boolean {
    return this.#open.size > 0
  }

  /** Takes bytes of the agent. @throws ProtocolFault; the stream is of no use then. */
  receive(bytes: Buffer): void {
    this.heardAt = performance.now()
    this.#frames.push(bytes)
  }

  /** The container is gone: every call fails with `session_lost`, those to come too. */
  lose(end: ContainerEnd): void {
    if (this.#end) return
    this.#end = end
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const conversation of open) conversation.fail(sessionLost(end))
    this.#hello.reject(sessionLost(end))
  }

  /** Begins a call with its first frame; returns its id. @throws BaxError `session_lost`. */
  begin(type: number, body: FrameWriter, conversation: Conversation): number {
    if (this.#end) throw sessionLost(this.#end)
    while (this.#open.has(this.#nextId)) this.#advance()
    const id = this.#nextId
    this.#advance()
    this.#open.set(id, conversation)
    this.#write(body.frame(type, id))
    return id
  }

  /** Sends a further frame of a call; nothing happens when the call has ended. */
  send(type: number, id: number, body: FrameWriter = new FrameWriter()): void {
    if (this.#open.has(id) && !this.#end) this.#write(body.frame(type, id))
  }

  /** The call has its last frame. */
  finish(id: number): void {
    this.#open.delete(id)
  }

  /** Resolves when the agent answers. @throws BaxError `session_lost`. */
  async ping(): Promise<void> {
    const answer = new Deferred<void>()
    const id = this.begin(toAgent.ping, new FrameWriter(), {
      frame: () => {
        this.finish(id)
        answer.resolve()
      },
      fail: answer.reject,
    })
    return answer.promise
  }

  /** Kills every process but the agent; returns their number. @throws ContainerFault, BaxError `session_lost`. */
  async killAll(): Promise<number> {
    const answer = new Deferred<number>()
    const id = this.begin(toAgent.killAll, new FrameWriter(), {
      frame: (_type, body) => {
        this.finish(id)
        answer.resolve(body.u32())
      },
      fail: answer.reject,
    })
    return answer.promise
  }

  #advance(): void {
    this.#nextId = this.#nextId === 0xffff_ffff ? 1 : this.#nextId + 1
  }

  #onFrame(type: number, id: number, body: FrameReader): void {
    if (type === fromAgent.hello) return this.#onHello(body)
    const conversation = this.#open.get(id)
    // What was on its way when the call ended.
    if (!conversation) return
    if (type !== fromAgent.failed) return conversation.frame(type, body)
    const code = errorName(body.u32())
    const during = body.bytes().toString()
    this.finish(id)
    conversation.fail(new ContainerFault(code, during))
  }

  #onHello(body: FrameReader): void {
    const version = body.u32()
    if (version === protocolVersion) this.#hello.resolve()
    else
      this.#hello.reject(
        new BaxError('internal_error', `the agent speaks version ${version}, the engine ${protocolVersion}`),
      )
  }
}

/** @throws ProtocolFault always: a frame that this call does not know. */
export function unexpected(type: number): never {
  throw new ProtocolFault(`an unexpected frame of type ${type}`)
}
