/** Runs batches next to the browser: the engine's end, the connector's end, and one message each way per batch. */
import { z } from 'zod'
import { commandRequest } from '../../../commands/index.ts'
import { asBaxError, BaxError, type ErrorBody } from '../../../core/errors/errors.ts'
import { answeredId, messageExcess } from '../../cdp/message-size.ts'
import type { TunnelChannel } from '../tunnel/tunnel.ts'
import type { ExecutionKind, Executions, Executor } from './executor.ts'

interface ExecutorRequest {
  readonly id: number
  readonly kind?: ExecutionKind
  readonly request?: Executions[ExecutionKind]['request']
  /** The caller has disconnected. */
  readonly abort?: true
}

interface ExecutorResponse {
  readonly id: number
  readonly result?: unknown
  readonly error?: ErrorBody
}

/** Engine's end. */
export class RemoteExecutor implements Executor {
  readonly #channel: TunnelChannel
  readonly #waiting = new Map<number, { resolve(result: never): void; reject(error: BaxError): void }>()
  #lastId = 0

  constructor(channel: TunnelChannel) {
    this.#channel = channel
    channel.handle({
      onMessage: (bytes) => this.#receive(parseResponse(bytes)),
      onClose: () => this.#lost(),
    })
    channel.onEnd(() => this.#lost())
  }

  /** @throws BaxError the error of the other end; `relay_disconnected` when the outcome is unknown. */
  execute<K extends ExecutionKind>(kind: K, request: Executions[K]['request'], signal: AbortSignal) {
    const id = ++this.#lastId
    const cancel = () => this.#channel.send(JSON.stringify({ id, abort: true } satisfies ExecutorRequest))
    return new Promise<Executions[K]['result'] & { target_id: string | null }>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      signal.addEventListener('abort', cancel, { once: true })
      this.#channel.send(JSON.stringify({ id, kind, request } satisfies ExecutorRequest))
    }).finally(() => {
      signal.removeEventListener('abort', cancel)
      this.#waiting.delete(id)
    })
  }

  async close(): Promise<void> {
    this.#channel.close()
  }

  #receive({ id, result, error }: ExecutorResponse): void {
    const waiting = this.#waiting.get(id)
    if (error) waiting?.reject(BaxError.fromBody(error))
    else waiting?.resolve(result as never)
  }

  #lost(): void {
    for (const { reject } of this.#waiting.values()) {
      // The effect of the running command is unknown, so it is not retried.
      const details = { outcome: 'unknown' }
      reject(new BaxError('relay_disconnected', 'the connector disconnected during the command', { details }))
    }
  }
}

/** Runs requests at the connector's end, and aborts them when the engine disconnects. */
export function serveExecutor(channel: TunnelChannel, executor: Executor): void {
  const running = new Map<number, AbortController>()
  const execute = async ({ id, kind, request }: ExecutorRequest): Promise<ExecutorResponse> => {
    const abort = new AbortController()
    running.set(id, abort)
    try {
      return { id, result: await executor.execute(kind!, checked(request!), abort.signal) }
    } catch (error) {
      return { id, error: asBaxError(error).toBody() }
    } finally {
      running.delete(id)
    }
  }
  channel.handle({
    onMessage: (bytes) => {
      const call = JSON.parse(bytes.toString()) as ExecutorRequest
      if (call.abort) running.get(call.id)?.abort(disconnected())
      else void execute(call).then((answer) => sendAnswer(answer, channel))
    },
    onClose: () => {
      for (const abort of running.values()) abort.abort(disconnected())
      void executor.close()
    },
  })
}

/** Parses a response; one that is too large to parse at once becomes an error. */
function parseResponse(bytes: Buffer): ExecutorResponse {
  const excess = messageExcess(bytes)
  return excess === undefined
    ? (JSON.parse(bytes.toString()) as ExecutorResponse)
    : { id: answeredId(bytes) ?? 0, error: tooLarge(excess).toBody() }
}

function sendAnswer(answer: ExecutorResponse, channel: TunnelChannel): void {
  const bytes = Buffer.from(JSON.stringify(answer))
  const excess = messageExcess(bytes)
  if (excess === undefined && channel.answer(bytes)) return
  const error = tooLarge(excess ?? `of ${bytes.length} bytes, and others are waiting to be sent`).toBody()
  channel.send(JSON.stringify({ id: answer.id, error } satisfies ExecutorResponse))
}

const tooLarge = (excess: string): BaxError =>
  new BaxError('payload_too_large', `the commands ran, but their response is ${excess}`, {
    hint: 'request less data at once',
  })

const disconnected = () => new BaxError('timeout', 'the caller disconnected')

const commands = z.object({ commands: z.array(commandRequest) })

/** Validates the commands: the engine is not trusted. */
function checked<R extends Executions[ExecutionKind]['request']>(request: R): R {
  if (!('commands' in request)) return request
  const parsed = commands.safeParse(request)
  if (parsed.success) return { ...request, ...parsed.data }
  throw new BaxError('invalid_request', parsed.error.issues[0]!.message, { cause: parsed.error })
}
