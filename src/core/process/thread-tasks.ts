/** The worker side of a thread pool: runs the tasks sent to this thread, one after the other. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort } from 'node:worker_threads'
import { BaxError } from '../errors/errors.ts'

/** The result of a task, a BaxError, or another error. */
type TaskAnswer<Result> = { readonly result: Result } | { readonly refused: PlainError } | { readonly fault: unknown }

/** Message of a thread: its program is loaded, or the answer to a task and the size of its heap in bytes. */
export type ThreadAnswer<Result> = 'ready' | (TaskAnswer<Result> & { readonly heap: number })

/** A BaxError as plain data, because a structured clone turns it into a mere Error. */
export type PlainError = Pick<BaxError, 'code' | 'message' | 'hint' | 'details'>

/** Heap size, in bytes, from which an idle thread collects garbage: otherwise V8 keeps the memory until the next tasks. */
const grownBytes = 48 * 1024 * 1024
/** Time without a task after which a thread is idle, in milliseconds. */
const idleMs = 50

/** Serves the tasks of the pool that started this thread; `work` may throw anything that can be cloned. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  const port = parentPort!
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
  port.postMessage('ready' satisfies ThreadAnswer<Result>)
  let last: Promise<void> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  port.on('message', (task: Task) => {
    last = last.then(async () => {
      clearTimeout(idle)
      const answer: TaskAnswer<Result> = await work(task).then(
        (result) => ({ result }),
        (fault: unknown) => (fault instanceof BaxError ? { refused: plainError(fault) } : { fault }),
      )
      const heap = getHeapStatistics().total_heap_size
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
      port.postMessage({ ...answer, heap } satisfies ThreadAnswer<Result>)
      if (heap > grownBytes) idle = setTimeout(collectGarbage, idleMs)
    })
  })
}

/**
 * Collects garbage, which returns memory to the system. V8 has a function for it in contexts that are created while its
 * flag is set. The flag is that of the process: if another thread has reset it, the next idle time has another chance.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('globalThis.gc') as (() => void) | undefined
  // Later contexts, such as those of callers' code, do not get the function.
  setFlagsFromString('--no-expose-gc')
  collect?.()
}

export const plainError = ({ code, message, hint, details }: BaxError): PlainError => ({ code, message, hint, details })

export const rebuiltError = ({ code, message, hint, details }: PlainError): BaxError =>
  new BaxError(code, message, { ...(hint && { hint }), ...(details && { details }) })
