/** The other end of a pool of threads: works on the tasks that this thread is sent, one after the other. */
import { parentPort } from 'node:worker_threads'
import { BaxError } from '../errors/errors.ts'

/** What a thread answers: what came of a task, why that was refused, or what went wrong. */
export type ThreadAnswer<Result> =
  | { readonly result: Result }
  | { readonly refused: Refusal }
  | { readonly fault: unknown }

/** A BaxError as plain data: what a thread sends arrives as a mere Error. */
export type Refusal = Pick<BaxError, 'code' | 'message' | 'hint' | 'details'>

/** Answers every task of the pool that started this thread; `work` may throw what a structured clone can carry. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  const port = parentPort!
  let last: Promise<void> = Promise.resolve()
  port.on('message', (task: Task) => {
    last = last.then(async () => {
      const answer: ThreadAnswer<Result> = await work(task).then(
        (result) => ({ result }),
        (fault: unknown) => (fault instanceof BaxError ? { refused: plain(fault) } : { fault }),
      )
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
      port.postMessage(answer)
    })
  })
}

const plain = ({ code, message, hint, details }: BaxError): Refusal => ({ code, message, hint, details })
