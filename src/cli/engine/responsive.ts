/** Notices an engine that does not respond at all, for example because it was stopped with SIGSTOP. */
import { overQuickSocket } from '../../client/quick-socket.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { EngineState } from '../../core/state/local-files.ts'
import { type Io, note } from '../io.ts'

/** An engine that is asked for its health. */
interface Watched {
  readonly name: string
  /** Advice for the user when it does not respond. */
  readonly hint: string
  readonly transport: Pick<Transport, 'send'>
}

/** Waits for the response to a call. @throws BaxError `engine_unreachable` when the engine does not respond to others */
export const whileResponsive = <T>(io: Io, { pid, socket }: EngineState, response: Promise<T>): Promise<T> =>
  responseOf(response, io, {
    name: `the local engine (process ${pid})`,
    hint: `if it was stopped, continue it with "kill -CONT ${pid}"; end it with "kill -KILL ${pid}"`,
    transport: overQuickSocket(socket),
  })

/** Returns the transport of a server, whose calls fail with `engine_unreachable` when it does not respond to others. */
export function watchedServer(io: Io, name: string, transport: Transport): Transport {
  const server = { name: `the server ${name}`, hint: 'check the server, and the network between you and it', transport }
  return {
    send: (request) => responseOf(transport.send(request), io, server),
    close: () => transport.close(),
  }
}

async function responseOf<T>(response: Promise<T>, io: Io, engine: Watched): Promise<T> {
  const over = new AbortController()
  try {
    return await Promise.race([response, watch(io, engine, over.signal)])
  } finally {
    // The default reason is an error, whose stack costs more than the rest of this function.
    over.abort('the call has ended')
    // The response is not awaited after the engine was reported; its rejection must not be unhandled.
    response.catch(() => {})
  }
}

/** Asks for the engine's health as long as the call takes. Commands may take long, and this does not limit them. */
function watch(io: Io, { name, hint, transport }: Watched, over: AbortSignal): Promise<never> {
  const { quietMs, unresponsiveMs } = limits.engine
  let lost: BaxError | undefined
  const error = () =>
    (lost = new BaxError('engine_unreachable', `${name} did not respond for ${unresponsiveMs / 1000} s`, {
      hint,
      details: { outcome: 'unknown' },
    }))
  const healthOf = async (signal: AbortSignal) =>
    (await transport.send({ method: 'GET', path: '/healthz', signal })).text()
  const notify = () => note(io, `waiting for ${name}, which does not respond`)
  return new Promise((_, reject) => {
    let timer: NodeJS.Timeout
    const ask = async () => {
      timer = setTimeout(notify, quietMs).unref()
      try {
        await withDeadline(healthOf, { ms: unresponsiveMs, error, signal: over, unref: true })
      } catch (thrown) {
        // The call itself reports an engine that has ended.
        if (thrown === lost) reject(thrown)
        return
      } finally {
        clearTimeout(timer)
      }
      if (!over.aborted) timer = setTimeout(ask, quietMs).unref()
    }
    timer = setTimeout(ask, quietMs).unref()
    over.addEventListener('abort', () => clearTimeout(timer), { once: true })
  })
}
