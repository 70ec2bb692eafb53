/** File operation: its frames to the agent, and the streamed response. */
import { untilAborted } from '../../../core/process/until-aborted.ts'
import { type AgentChannel, type Conversation, unexpected } from './channel.ts'
import { Deferred } from './deferred.ts'
import { type FrameReader, FrameWriter, fromAgent, toAgent } from './frames.ts'
import { InputQueue } from './input-queue.ts'
import { OutputQueue } from './output-queue.ts'

interface CallOptions {
  /** Whether the first record belongs to `opening` instead of the pieces. */
  readonly opens?: boolean
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined
}

export class FileCall implements Conversation {
  /** Records, or the content of a file. */
  readonly pieces: OutputQueue
  /** Facts of the file, sent before its content. */
  readonly opening = new Deferred<FrameReader>()
  readonly #input: InputQueue
  readonly #channel: AgentChannel
  readonly #id: number
  readonly #opens: boolean
  /** Aborted when the call has ended. */
  readonly #ended = new AbortController()
  readonly #answer = new Deferred<FrameReader>()
  /** Final response. @throws ContainerError, BaxError `session_lost`. */
  readonly answer = this.#answer.promise

  /** @param body Operation and its parameters. */
  constructor(channel: AgentChannel, body: FrameWriter, { opens = false, signal }: CallOptions = {}) {
    signal?.throwIfAborted()
    this.#channel = channel
    this.#opens = opens
    this.pieces = new OutputQueue({
      grant: (bytes) => channel.send(toAgent.credit, this.#id, new FrameWriter().u8(1).u32(bytes)),
      discard: this.#cancel,
    })
    this.#input = new InputQueue(
      (bytes) => channel.send(toAgent.data, this.#id, new FrameWriter().raw(bytes)),
      () => channel.send(toAgent.end, this.#id),
    )
    this.#id = channel.begin(toAgent.file, body, this)
    if (!signal) return
    signal.addEventListener('abort', this.#cancel, { once: true })
    // Errors reach the reader of the answer.
    void this.answer.catch(() => {}).finally(() => signal.removeEventListener('abort', this.#cancel))
  }

  /** Sends the content of a file until the call ends. Fails only if its source does; the answer reports other errors. */
  async send(content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    try {
      const pieces = content instanceof Uint8Array ? [content] : untilAborted(content, this.#ended.signal)
      for await (const piece of pieces)
        // False means that the agent has failed; its response has the reason.
        if (!(await this.#input.write(piece))) return
      this.#input.end()
    } catch (error) {
      if (this.#ended.signal.aborted) return
      // The source failed: discard the partial file.
      this.#cancel()
      // A cancelled call fails; the error of the source is reported.
      await this.answer.catch(() => {})
      throw error
    }
  }

  frame(type: number, body: FrameReader): void {
    if (type === fromAgent.inputCredit) this.#input.grant(body.u32())
    else if (type === fromAgent.result && this.#opens) this.opening.resolve(body)
    else if (type === fromAgent.result) this.pieces.push(body.rest())
    else if (type === fromAgent.done) {
      this.#channel.finish(this.#id)
      this.#end()
      this.pieces.end()
      this.#answer.resolve(body)
    } else unexpected(type)
  }

  output(_stream: number, bytes: Buffer): void {
    this.pieces.push(bytes)
  }

  fail(error: Error): void {
    this.#end()
    this.opening.reject(error)
    this.#answer.reject(error)
    this.pieces.fail(error)
  }

  #end(): void {
    this.#input.close()
    this.#ended.abort()
  }

  /** Cancels the operation, which fails with `ECANCELED` unless it has just completed. */
  #cancel = (): void => this.#channel.send(toAgent.cancel, this.#id)
}
