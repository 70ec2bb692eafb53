/** The worker side of a thread pool: runs the tasks sent to this thread, one after the other. */
import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'
import { BaxError } from '../errors/errors.ts'

/** The result of a task, a BaxError, or another error. */
type TaskAnswer<Result> = { readonly result: Result } | { readonly refused: PlainError } | { readonly fault: unknown }

/** Message of a thread: its program is loaded, or the answer to a task and the size of its heap in bytes. */
export type ThreadAnswer<Result> = 'ready' | (TaskAnswer<Result> & { readonly heap: number })

/** A BaxError as plain data, because a structured clone turns it into a mere Error. */
export type PlainError = Pick<BaxError, 'code' | 'message' | 'hint' | 'details'>

/** Serves the tasks of the pool that started this thread; `work` may throw anything that can be cloned. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  const port = parentPort!
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  port.postMessage('ready' satisfies ThreadAnswer<Result>)
  let last: Promise<void> = Promise.resolve()
  port.on('message', (task: Task) => {
    last = last.then(async () => {
      const answer: TaskAnswer<Result> = await work(task).then(
        (result) => ({ result }),
        (fault: unknown) => (fault instanceof BaxError ? { refused: plainError(fault) } : { fault }),
      )
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
      port.postMessage({ ...answer, heap: getHeapStatistics().total_heap_size } satisfies ThreadAnswer<Result>)
    })
  })
}

export const plainError = ({ code, message, hint, details }: BaxError): PlainError => ({ code, message, hint, details })

export const rebuiltError = ({ code, message, hint, details }: PlainError): BaxError =>
  new BaxError(code, message, { ...(hint && { hint }), ...(details && { details }) })
