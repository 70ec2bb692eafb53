/** The threads of a pool and their jobs. */
import type { Worker } from 'node:worker_threads'
import type { Origin } from './turns.ts'

export interface Job<Task, Result> {
  readonly task: Task
  readonly from: Origin
  readonly onStart: (() => void) | undefined
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Number of threads that crashed while running it. */
  crashes: number
  /** Whether its result is ignored: the caller has given up, or another thread runs it again. */
  dropped: boolean
}

export interface Thread<Task, Result> {
  readonly worker: Worker
  /** Assigned jobs in order of execution. */
  readonly jobs: Job<Task, Result>[]
  /** Timeout of the running task. */
  clock?: NodeJS.Timeout
  /** Timer that moves the next task elsewhere. */
  mover?: NodeJS.Timeout
  /** Whether its program is loaded. */
  isReady: boolean
  /** Size of its heap in bytes after its last task. */
  heap: number
}
