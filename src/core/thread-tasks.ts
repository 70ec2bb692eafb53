/** The other end of a pool of threads: works on the tasks that this thread is sent, one after the other. */
import { parentPort } from 'node:worker_threads'

/** Answers every task of the pool that started this thread; `work` may throw what a structured clone can carry. */
export function serveTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  const port = parentPort!
  let last: Promise<void> = Promise.resolve()
  port.on('message', (task: Task) => {
    last = last.then(async () => {
      const answer = await work(task).then(
        (result) => ({ result }),
        (fault: unknown) => ({ fault }),
      )
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
      port.postMessage(answer)
    })
  })
}
