/** Work that may be made to take for ever is done in a thread, which can be ended. */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { ThreadPool, type ThreadPoolFacts } from './thread-pool.ts'

type Work<Task, Result> = (task: Task, signal: AbortSignal) => Promise<Result>

/**
 * `work` as a thread does it that runs `program` (a file beside this one, which serves the same work); where that is
 * not built, as in tests of single modules, it is done here. The threads are the process's: they end by themselves
 * when there is nothing to do, and hold up no end of it.
 */
export function aside<Task, Result>(
  program: string,
  work: (task: Task) => Promise<Result>,
  facts: Omit<ThreadPoolFacts, 'program'>,
): Work<Task, Result> {
  let pool: ThreadPool<Task, Result> | undefined
  return (task, signal) => {
    const path = join(import.meta.dirname, program)
    if (!pool && !existsSync(path)) return work(task)
    pool ??= new ThreadPool({ ...facts, program: path, threads: Math.min(facts.threads, availableParallelism()) })
    return pool.run(task, { signal })
  }
}
