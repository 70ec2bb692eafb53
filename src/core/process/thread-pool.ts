/** Threads that run one program and take tasks in turn: started when they are needed, replaced when they break. */
import { Worker } from 'node:worker_threads'
import { BaxError } from '../errors/errors.ts'
import type { Refusal, ThreadAnswer } from './thread-tasks.ts'

export interface ThreadPoolFacts {
  /** The built file that each thread runs; see `serveTasks`. */
  readonly program: string
  /** Threads at most. */
  readonly threads: number
  /** Megabytes of objects that one thread may hold; one that wants more breaks. */
  readonly heapMb: number
  /** Milliseconds that a thread may be at one task; without it as long as it takes. */
  readonly longestMs?: number
  /** Milliseconds after which threads without work are ended; without it they stay. */
  readonly idleMs?: number
}

/** How a task is to be done. */
export interface TaskWish {
  readonly signal?: AbortSignal
  /** Who asked for it: those who ask for much do not keep others waiting. */
  readonly from?: string | null
}

interface Job<Task, Result> {
  readonly task: Task
  readonly from: string | null
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Threads that have broken while they worked on it. */
  broken: number
  /** Nobody waits for it any more. */
  dropped: boolean
}

interface Thread<Task, Result> {
  readonly worker: Worker
  /** In the order in which it works on them. */
  readonly jobs: Job<Task, Result>[]
  /** Of the task that it is at. */
  clock?: NodeJS.Timeout
}

/** Tasks that a thread has at a time: the next one is there when one is done. */
const inHand = 2
/** Threads that may break over one task; the next may have been unlucky, not a third. */
const mostBroken = 2

export class ThreadPool<Task, Result> {
  readonly #facts: ThreadPoolFacts
  readonly #threads = new Set<Thread<Task, Result>>()
  readonly #waiting: Job<Task, Result>[] = []
  /** Who was served, the latest last. */
  readonly #served = new Set<string | null>()
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor(facts: ThreadPoolFacts) {
    this.#facts = facts
  }

  /** Tasks that no thread works on yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Threads that run. */
  get size(): number {
    return this.#threads.size
  }

  /** Starts the first thread, so that it is warm when its first task comes. */
  start(): void {
    if (this.#closed || this.#threads.size > 0) return
    this.#open()
    this.#rest()
  }

  /**
   * What a thread makes of a task, which is copied to it. Tasks of one who asks are begun in their order, those of
   * several in turn. A thread that is at a task when that is aborted is ended: nothing else stops a program that is busy.
   * @throws what the program threw; the reason of `signal`; BaxError `timeout` after `longestMs`, `content_too_large`
   * for a task that takes more memory than a thread has, `internal_error` for one over which threads break otherwise,
   * `shutting_down`
   */
  async run(task: Task, { signal, from = null }: TaskWish = {}): Promise<Result> {
    if (this.#closed) throw shuttingDown()
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    let job!: Job<Task, Result>
    const done = new Promise<Result>((resolve, reject) => {
      job = { task, from, resolve, reject, broken: 0, dropped: false }
    })
    const drop = () => this.#drop(job, signal!.reason)
    signal?.addEventListener('abort', drop, { once: true })
    try {
      this.#waiting.push(job)
      this.#assign()
      return await done
    } finally {
      signal?.removeEventListener('abort', drop)
    }
  }

  /** Ends the threads; what they were at is given up. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    const left = [...this.#waiting.splice(0), ...[...this.#threads].flatMap(({ jobs }) => jobs.splice(0))]
    for (const { reject } of left) reject(shuttingDown())
    await this.#endAll()
  }

  #drop(job: Job<Task, Result>, reason: unknown): void {
    job.reject(reason)
    job.dropped = true
    const at = this.#waiting.indexOf(job)
    if (at >= 0) this.#waiting.splice(at, 1)
    for (const thread of this.#threads) if (thread.jobs[0] === job) this.#stop(thread)
    this.#rest()
  }

  /** Ends a thread; what it had in hand goes to others. */
  #stop(thread: Thread<Task, Result>): void {
    void thread.worker.terminate()
    this.#broke(thread, undefined)
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#next()
      if (!thread) return
      const job = this.#take()
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
        thread.worker.postMessage(job.task)
      } catch (error) {
        // What cannot be copied never gets there.
        job.reject(error)
        continue
      }
      thread.jobs.push(job)
      thread.worker.ref()
      if (thread.jobs.length === 1) this.#startClock(thread)
    }
  }

  /** The first task of whoever was served the longest ago. */
  #take(): Job<Task, Result> {
    const order = [...this.#served]
    const ranks = this.#waiting.map(({ from }) => order.indexOf(from))
    const [job] = this.#waiting.splice(ranks.indexOf(Math.min(...ranks)), 1)
    this.#served.delete(job!.from)
    this.#served.add(job!.from)
    return job!
  }

  #startClock(thread: Thread<Task, Result>): void {
    const { longestMs } = this.#facts
    clearTimeout(thread.clock)
    const [job] = thread.jobs
    if (longestMs === undefined || !job) return
    const late = () => this.#drop(job, new BaxError('timeout', `it took longer than ${longestMs} ms to read`))
    thread.clock = setTimeout(late, longestMs).unref()
  }

  /** The thread with the least to do; a new one before any gets a second task. */
  #next(): Thread<Task, Result> | undefined {
    let least: Thread<Task, Result> | undefined
    for (const thread of this.#threads) if (!least || thread.jobs.length < least.jobs.length) least = thread
    if (least?.jobs.length === 0) return least
    if (this.#threads.size < this.#facts.threads) return this.#open()
    return least && least.jobs.length < inHand ? least : undefined
  }

  #open(): Thread<Task, Result> {
    const { program, heapMb } = this.#facts
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const thread: Thread<Task, Result> = { worker, jobs: [] }
    this.#threads.add(thread)
    let reason: unknown
    worker.on('message', (answer: ThreadAnswer<Result>) => this.#answered(thread, answer))
    worker.on('error', (error) => (reason = error))
    worker.on('exit', () => this.#broke(thread, reason))
    return thread
  }

  #answered(thread: Thread<Task, Result>, answer: ThreadAnswer<Result>): void {
    const job = thread.jobs.shift()
    if ('result' in answer) job?.resolve(answer.result)
    else job?.reject('refused' in answer ? rebuilt(answer.refused) : answer.fault)
    if (thread.jobs[0]?.dropped) return this.#stop(thread)
    this.#startClock(thread)
    this.#assign()
    this.#rest()
  }

  /** Threads without work keep no process alive. */
  #rest(): void {
    const idle = [...this.#threads].filter(({ jobs }) => jobs.length === 0)
    for (const { worker } of idle) worker.unref()
    const { idleMs } = this.#facts
    clearTimeout(this.#idle)
    if (idle.length < this.#threads.size) return
    this.#served.clear()
    if (idleMs !== undefined) this.#idle = setTimeout(() => void this.#endAll(), idleMs).unref()
  }

  /** What it was at is tried once more, if not for memory; what waited behind that has lost nothing but time. */
  #broke(thread: Thread<Task, Result>, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.clock)
    const [first, ...others] = thread.jobs.splice(0)
    this.#waiting.unshift(...others.filter(({ dropped }) => !dropped))
    if (first && !first.dropped) {
      first.broken++
      if ((reason as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') first.reject(tooMuch(reason))
      else if (first.broken < mostBroken) this.#waiting.unshift(first)
      else first.reject(new BaxError('internal_error', 'a thread broke twice over one task', { cause: reason }))
    }
    if (this.#closed) return
    this.#assign()
    this.#rest()
  }

  async #endAll(): Promise<void> {
    const workers = [...this.#threads].map(({ worker }) => worker)
    this.#threads.clear()
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

const rebuilt = ({ code, message, hint, details }: Refusal): BaxError =>
  new BaxError(code, message, { ...(hint && { hint }), ...(details && { details }) })

const tooMuch = (cause: unknown): BaxError =>
  new BaxError('content_too_large', 'it takes more memory than there is for one page', { cause })

const shuttingDown = (): BaxError => new BaxError('shutting_down', 'the engine is shutting down')
