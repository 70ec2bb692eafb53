/** An executor beside the browser, and the engine's end of the channel to it: one message there and one back a batch. */
import { z } from 'zod'
import { commandRequest } from '../../../commands/index.ts'
import { asBaxError, BaxError, type ErrorBody } from '../../../core/errors/errors.ts'
import { answeredId, messageExcess } from '../../cdp/message-size.ts'
import type { TunnelChannel } from '../tunnel/tunnel.ts'
import type { ExecutionKind, Executions, Executor } from './executor.ts'

interface Asked {
  readonly id: number
  readonly kind?: ExecutionKind
  readonly request?: Executions[ExecutionKind]['request']
  /** The caller has gone away. */
  readonly abort?: true
}

interface Answered {
  readonly id: number
  readonly result?: unknown
  readonly error?: ErrorBody
}

interface Waiting {
  resolve(result: never): void
  reject(error: BaxError): void
}

/** The engine's end. */
export class RemoteExecutor implements Executor {
  readonly #channel: TunnelChannel
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  constructor(channel: TunnelChannel) {
    this.#channel = channel
    channel.handle({
      onMessage: (text) => this.#receive(answeredIn(Buffer.from(text))),
      onUtf8: (bytes) => this.#receive(answeredIn(bytes)),
      onClose: () => this.#lost(),
    })
    channel.onEnd(() => this.#lost())
  }

  /** @throws BaxError what the other end throws; `relay_disconnected` when nobody knows what became of it. */
  execute<K extends ExecutionKind>(kind: K, request: Executions[K]['request'], signal: AbortSignal) {
    const id = ++this.#lastId
    return new Promise<Executions[K]['result'] & { target_id: string | null }>((resolve, reject) => {
      const quit = () => this.#channel.send(JSON.stringify({ id, abort: true } satisfies Asked))
      const settled = () => {
        signal.removeEventListener('abort', quit)
        this.#waiting.delete(id)
      }
      this.#waiting.set(id, {
        resolve: (result) => {
          settled()
          resolve(result)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
      signal.addEventListener('abort', quit, { once: true })
      this.#channel.send(JSON.stringify({ id, kind, request } satisfies Asked))
    })
  }

  async close(): Promise<void> {
    this.#channel.close()
  }

  #receive({ id, result, error }: Answered): void {
    const waiting = this.#waiting.get(id)
    if (error) waiting?.reject(BaxError.fromBody(error))
    else waiting?.resolve(result as never)
  }

  #lost(): void {
    for (const { reject } of this.#waiting.values()) {
      // What the running command did is not known, and it is not repeated.
      const details = { outcome: 'unknown' }
      reject(new BaxError('relay_disconnected', 'the connector went away in the middle of the work', { details }))
    }
  }
}

/** The connector's end: runs what is asked, and cuts it when the engine is gone. */
export function serveExecutor(channel: TunnelChannel, executor: Executor): void {
  const running = new Map<number, AbortController>()
  const begin = async ({ id, kind, request }: Asked): Promise<Answered> => {
    const stop = new AbortController()
    running.set(id, stop)
    try {
      return { id, result: await executor.execute(kind!, checked(request!), stop.signal) }
    } catch (error) {
      return { id, error: asBaxError(error).toBody() }
    } finally {
      running.delete(id)
    }
  }
  channel.handle({
    onMessage: (text) => {
      const asked = JSON.parse(text) as Asked
      if (asked.abort) running.get(asked.id)?.abort(gone())
      else void begin(asked).then((answer) => sendAnswer(answer, channel))
    },
    onClose: () => {
      for (const stop of running.values()) stop.abort(gone())
      void executor.close()
    },
  })
}

/** The answer, or an error in its place when it is too large to be parsed at once. */
function answeredIn(bytes: Buffer): Answered {
  const excess = messageExcess(bytes)
  return excess === undefined
    ? (JSON.parse(bytes.toString()) as Answered)
    : { id: answeredId(bytes) ?? 0, error: tooLarge(excess).toBody() }
}

function sendAnswer(answer: Answered, channel: TunnelChannel): void {
  const bytes = Buffer.from(JSON.stringify(answer))
  const excess = messageExcess(bytes)
  if (excess === undefined && channel.answer(bytes)) return
  const error = tooLarge(excess ?? `of ${bytes.length} bytes, and others wait to be sent`).toBody()
  channel.send(JSON.stringify({ id: answer.id, error } satisfies Answered))
}

const tooLarge = (excess: string): BaxError =>
  new BaxError('payload_too_large', `the commands were run, and their answer is ${excess}`, {
    hint: 'ask for less in one request',
  })

const gone = () => new BaxError('timeout', 'the caller went away')

const commands = z.object({ commands: z.array(commandRequest) })

/** The engine may be somebody else's: nothing reaches a command that its schema does not allow. */
function checked<R extends Executions[ExecutionKind]['request']>(request: R): R {
  if (!('commands' in request)) return request
  const parsed = commands.safeParse(request)
  if (parsed.success) return { ...request, ...parsed.data }
  throw new BaxError('invalid_request', parsed.error.issues[0]!.message, { cause: parsed.error })
}
