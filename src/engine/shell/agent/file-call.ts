/** File operation: its frames to the agent, and the streamed response. */
import { type AgentChannel, type Conversation, unexpected } from './channel.ts'
import { Deferred } from './deferred.ts'
import { FrameReader, FrameWriter, fromAgent, toAgent } from './frames.ts'
import { InputQueue } from './input-queue.ts'
import { OutputQueue } from './output-queue.ts'

export class FileCall implements Conversation {
  /** Records, or the content of a file. */
  readonly pieces: OutputQueue
  /** Facts of the file, sent before its content. */
  readonly opening = new Deferred<FrameReader>()
  readonly input: InputQueue
  readonly #channel: AgentChannel
  readonly #id: number
  readonly #opens: boolean
  readonly #answer = new Deferred<FrameReader>()
  /** Final response. @throws ContainerError, BaxError `session_lost`. */
  readonly answer = this.#answer.promise

  /** @param opens Whether the first record belongs to `opening` instead of the pieces. */
  constructor(channel: AgentChannel, operation: number, body: FrameWriter, opens = false) {
    this.#channel = channel
    this.#opens = opens
    this.pieces = new OutputQueue({
      grant: (bytes) => channel.send(toAgent.credit, this.#id, new FrameWriter().u8(1).u32(bytes)),
      discard: () => channel.send(toAgent.cancel, this.#id),
    })
    this.input = new InputQueue(
      (bytes) => channel.send(toAgent.data, this.#id, new FrameWriter().raw(bytes)),
      () => channel.send(toAgent.end, this.#id),
    )
    this.#id = channel.begin(toAgent.file, new FrameWriter().u8(operation).append(body), this)
  }

  /** Cancels the operation, which fails with `ECANCELED` unless it has just completed. */
  cancel(): void {
    this.#channel.send(toAgent.cancel, this.#id)
  }

  frame(type: number, body: FrameReader): void {
    if (type === fromAgent.inputCredit) this.input.grant(body.u32())
    else if (type === fromAgent.result) this.#onRecord(body)
    else if (type === fromAgent.done) {
      this.#channel.finish(this.#id)
      this.input.close()
      this.pieces.end()
      this.#answer.resolve(body)
    } else unexpected(type)
  }

  output(_stream: number, bytes: Buffer): void {
    this.pieces.push(bytes)
  }

  fail(error: Error): void {
    this.input.close()
    this.opening.reject(error)
    this.#answer.reject(error)
    this.pieces.fail(error)
  }

  #onRecord(body: FrameReader): void {
    if (this.#opens) this.opening.resolve(body)
    else this.pieces.push(body.rest())
  }
}
