/** Runs single functions in worker threads that the process shares. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ThreadPool, type ThreadPoolOptions } from './thread-pool.ts'

type Work<Task, Result> = (task: Task, signal: AbortSignal) => Promise<Result>

/**
 * Returns `work` as run by worker threads that execute `program`, a file beside this one that serves the same work. If
 * it has not been built, as in unit tests, `work` runs on this thread. The threads are shared by the process; they end
 * when idle, and do not keep the process alive.
 */
export function runInWorker<Task, Result>(
  program: string,
  work: (task: Task) => Promise<Result>,
  facts: Omit<ThreadPoolOptions, 'program'>,
): Work<Task, Result> {
  let pool: ThreadPool<Task, Result> | undefined
  return (task, signal) => {
    const path = join(import.meta.dirname, program)
    if (!pool && !existsSync(path)) return work(task)
    pool ??= new ThreadPool({ ...facts, program: path, threads: Math.min(facts.threads, availableParallelism()) })
    return pool.run(task, { signal })
  }
}
