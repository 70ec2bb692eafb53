/** The other side of a helper process: runs the tasks that are sent to this process. */
import { BaxError } from '../errors/errors.ts'
import { type PlainError, plainError } from './thread-tasks.ts'
import type { Origin, WorkOptions } from './turns.ts'

/** A task, or the cancellation of one. */
export type HelperMessage<Task> =
  | { readonly id: number; readonly task: Task; readonly from: Origin }
  | { readonly id: number }

export type HelperAnswer<Result> = { readonly id: number } & (
  | { readonly result: Result }
  | { readonly refused: PlainError }
  | { readonly fault: unknown }
)

/** Serves the tasks of the process that started this one, and ends with it. */
export function serveHelper<Task, Result>(work: (task: Task, options: Required<WorkOptions>) => Promise<Result>): void {
  const running = new Map<number, AbortController>()
  const send = (answer: HelperAnswer<Result>) => {
    if (process.connected) process.send!(answer, undefined, undefined, () => {})
  }
  process.on('message', (message: HelperMessage<Task>) => {
    const { id } = message
    if (!('task' in message)) return running.get(id)?.abort()
    const control = new AbortController()
    running.set(id, control)
    work(message.task, { from: message.from, signal: control.signal })
      .then(
        (result) => send({ id, result }),
        (fault: unknown) => send({ id, ...(fault instanceof BaxError ? { refused: plainError(fault) } : { fault }) }),
      )
      .finally(() => running.delete(id))
  })
  // Threads may be busy for ever, and their results are no longer needed.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  // A terminal sends these to all processes of a job; the parent process decides when to end.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
}
