/** Notices a local engine that does not respond at all, for example because it was stopped with SIGSTOP. */
import { overQuickSocket } from '../../client/quick-socket.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { EngineState } from '../../core/state/local-files.ts'
import { type Io, note } from '../io.ts'

/** Waits for the response to a call. @throws BaxError `engine_unreachable` when the engine does not respond to others */
export async function whileResponsive<T>(io: Io, engine: EngineState, response: Promise<T>): Promise<T> {
  const over = new AbortController()
  try {
    return await Promise.race([response, watch(io, engine, over.signal)])
  } finally {
    over.abort()
    // The response is not awaited after the engine was reported; its rejection must not be unhandled.
    response.catch(() => {})
  }
}

/** Asks for the engine's health as long as the call takes. Commands may take long, and this does not limit them. */
function watch(io: Io, { pid, socket }: EngineState, over: AbortSignal): Promise<never> {
  const { quietMs, unresponsiveMs } = limits.engine
  let lost: BaxError | undefined
  const error = () =>
    (lost = new BaxError(
      'engine_unreachable',
      `the local engine (process ${pid}) did not respond for ${unresponsiveMs / 1000} s`,
      {
        hint: `if it was stopped, continue it with "kill -CONT ${pid}"; end it with "kill -KILL ${pid}"`,
        details: { outcome: 'unknown' },
      },
    ))
  const healthOf = (signal: AbortSignal) => overQuickSocket(socket).send({ method: 'GET', path: '/healthz', signal })
  const notify = () => note(io, `waiting for the local engine (process ${pid}), which does not respond`)
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
