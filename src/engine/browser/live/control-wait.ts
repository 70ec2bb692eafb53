/** Command queue of a session while a person has control: waiting commands are reported, and time out. */
import type { Call } from '../../../core/operation/call.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CommandBatch } from '../../../core/shapes/commands.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { LiveSession } from '../ports/session.ts'
import { controlLockOf } from './control-lock.ts'

/** Queued commands. */
type Waiting = Partial<Pick<CommandBatch, 'commands' | 'timeout_ms'>>

/**
 * Runs `work` after all earlier work on the session. The wait ends with the call or the session.
 * @throws BaxError `controlled_by_person` when a person keeps control for longer than the commands wait.
 */
export async function runQueued<T>(
  session: LiveSession,
  call: Pick<Call, 'signal'>,
  waiting: Waiting,
  work: () => Promise<T>,
): Promise<T> {
  const { signal: control, stop } = watchControl(session, waiting)
  const begin = () => {
    stop()
    return work()
  }
  try {
    return await withDeadline((inner) => session.use(() => session.queue.run(begin, inner)), {
      signal: [call.signal, session.ended, control],
      cooperative: true,
    })
  } finally {
    stop()
  }
}

/** Reports when commands wait for a person; the signal is aborted when they have waited for too long. */
function watchControl(session: LiveSession, waiting: Waiting): { signal: AbortSignal; stop: () => void } {
  const ms = maxWaitOf(waiting)
  const commands = (waiting.commands ?? []).map(({ command }) => command)
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onTaken = () => {
    timer = setTimeout(() => over.abort(controlled(ms)), ms)
    // After the event that is being emitted.
    queueMicrotask(() => session.events.emit('control.waiting', { commands, timeout_ms: ms }))
  }
  const stopListening = session.events.listen(({ type }) => {
    if (type === 'control.taken') onTaken()
    if (type === 'control.returned') clearTimeout(timer)
  })
  if (controlLockOf(session).holder) onTaken()
  const stop = () => {
    stopListening()
    clearTimeout(timer)
  }
  return { signal: over.signal, stop }
}

/** Returns the timeout of the batch, or else the longest timeout of its commands. */
function maxWaitOf({ commands = [], timeout_ms: batchMs }: Waiting): number {
  if (batchMs !== undefined) return batchMs
  const own = commands.flatMap(({ data }) => {
    const ms = data?.['timeout_ms']
    return typeof ms === 'number' ? [ms] : []
  })
  return own.length > 0 ? Math.max(...own) : limits.command.evaluateMs
}

const controlled = (ms: number): BaxError =>
  new BaxError('controlled_by_person', `a person has control of the session and did not return it within ${ms} ms`, {
    hint: 'retry when the person has returned control',
    details: { waited_ms: ms },
  })

/** Builds the results of commands that timed out while a person had control; rethrows any other error. */
export const unlessControlled =
  <T>(refuse: (signal: AbortSignal) => Promise<T>) =>
  (error: unknown): Promise<T> => {
    if (error instanceof BaxError && error.code === 'controlled_by_person') return refuse(AbortSignal.abort(error))
    throw error
  }
