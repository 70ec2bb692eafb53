/** Runs single functions in worker threads that the process shares. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { reserveFor } from './fair-queue.ts'
import { ThreadPool, type ThreadPoolOptions } from './thread-pool.ts'
import type { TaskOptions } from './turns.ts'

type Work<Task, Result> = (task: Task, options: TaskOptions) => Promise<Result>

/**
 * Returns `work` as run by worker threads that execute `program`, a file beside this one that serves the same work. If
 * it has not been built, as in unit tests, `work` runs on this thread. The threads are shared by the process; they end
 * when idle, and do not keep the process alive. Tasks may take long: none is assigned before its thread is free, and there
 * are threads for keys that have none.
 */
export function runInWorker<Task, Result>(
  program: string,
  work: (task: Task) => Promise<Result>,
  facts: Omit<ThreadPoolOptions, 'program'>,
): Work<Task, Result> {
  let pool: ThreadPool<Task, Result> | undefined
  return (task, options) => {
    const path = join(import.meta.dirname, program)
    if (!pool && !existsSync(path)) {
      options.onStart?.()
      return work(task)
    }
    const threads = Math.min(facts.threads, availableParallelism())
    pool ??= new ThreadPool({ ...facts, program: path, threads, tasksPerThread: 1, reserve: reserveFor(threads) })
    return pool.run(task, options)
  }
}
