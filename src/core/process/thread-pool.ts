/** A pool of worker threads that run one program; threads start on demand and are replaced when they crash. */
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { BaxError } from '../errors/errors.ts'
import { mayHaveSlot } from './fair-queue.ts'
import type { Job, Thread } from './thread-pool-state.ts'
import { rebuiltError, type ThreadAnswer } from './thread-tasks.ts'
import { type Origin, type TaskOptions, Turns } from './turns.ts'

export interface ThreadPoolOptions {
  /** The built file that each thread runs; see `serveTasks`. */
  readonly program: string
  /** Maximum number of threads. */
  readonly threads: number
  /** Heap limit of each thread, in megabytes; exceeding it crashes the thread. */
  readonly heapMb: number
  /** Timeout of a task, in milliseconds; none when absent. */
  readonly longestMs?: number
  /** Idle time in milliseconds after which threads end; unlimited when absent. */
  readonly idleMs?: number
  /** A shorter idle time, for when the heap of a thread is larger than this, in megabytes. */
  readonly grown?: { readonly heapMb: number; readonly idleMs: number }
  /**
   * Time in milliseconds after which waiting tasks start the last thread, if the main thread was mostly idle meanwhile:
   * it needs the core of the main thread. They start it at once when absent.
   */
  readonly patienceMs?: number
  /** Time in milliseconds that an aborted task has to finish before its thread is terminated; none when absent. */
  readonly graceMs?: number
  /** Tasks assigned to a thread at once; two by default, so that the next one is ready when one is done. */
  readonly tasksPerThread?: number
  /**
   * Further threads for origins that have fewer tasks running than this, so that one whose tasks take long does not
   * delay the others.
   */
  readonly reserve?: number
}

/** Time in milliseconds that a task waits behind another one before it may move to a free or new thread. */
const moveAfterMs = 1000
/** Share of the time that the main thread may be busy when the last thread starts. */
const maxUtilization = 0.5
const mebibyte = 1024 * 1024
/** Crashes allowed for one task: a single one may be caused by another task. */
const maxCrashes = 2

export class ThreadPool<Task, Result> {
  readonly #facts: ThreadPoolOptions
  readonly #threads = new Set<Thread<Task, Result>>()
  readonly #waiting = new Turns<Job<Task, Result>>()
  #idle: NodeJS.Timeout | undefined
  /** Timer for the start of the last thread. */
  #delay: NodeJS.Timeout | undefined
  #closed = false

  constructor(facts: ThreadPoolOptions) {
    this.#facts = facts
  }

  /** Number of tasks that are not assigned yet. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Number of running threads. */
  get size(): number {
    return this.#threads.size
  }

  /** Whether a thread has loaded its program, so that a task need not wait for that. */
  get isReady(): boolean {
    for (const { isReady } of this.#threads) if (isReady) return true
    return false
  }

  /** Starts the first thread ahead of its first task. */
  start(): void {
    if (this.#closed || this.#threads.size > 0) return
    this.#open()
    this.#rest()
  }

  /**
   * Runs a task, which is cloned to a thread. Tasks of one origin start in order, those of several take turns. Aborting
   * a running task terminates its thread after `graceMs`, because nothing else stops a busy program.
   * @throws the program's error; the reason of `signal`; BaxError `timeout` after `longestMs`, `content_too_large`
   * for a task that exceeds a thread's memory, `worker_lost` for one whose
   * threads ended, `internal_error` for one that crashes them, `shutting_down`
   */
  async run(task: Task, { signal, from = null, onStart }: TaskOptions = {}): Promise<Result> {
    if (this.#closed) throw shuttingDown()
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    let job!: Job<Task, Result>
    const done = new Promise<Result>((resolve, reject) => {
      job = { task, from, onStart, resolve, reject, crashes: 0, dropped: false }
    })
    const drop = () => this.#drop(job, signal?.reason, this.#facts.graceMs)
    signal?.addEventListener('abort', drop, { once: true })
    try {
      this.#waiting.add(job, from)
      this.#assign()
      return await done
    } finally {
      signal?.removeEventListener('abort', drop)
    }
  }

  /** Ends the threads and rejects all pending tasks. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    clearTimeout(this.#delay)
    for (const { mover } of this.#threads) clearTimeout(mover)
    const left = [...this.#waiting.clear(), ...[...this.#threads].flatMap(({ jobs }) => jobs.splice(0))]
    for (const { reject } of left) reject(shuttingDown())
    await this.#endAll()
  }

  #drop(job: Job<Task, Result>, reason: unknown, graceMs = 0): void {
    job.reject(reason)
    job.dropped = true
    this.#waiting.remove(job)
    for (const thread of this.#threads) if (thread.jobs[0] === job) this.#stopSoon(thread, graceMs)
    this.#rest()
  }

  /** Terminates a thread that has not finished its task after `graceMs`, because starting another one takes longer. */
  #stopSoon(thread: Thread<Task, Result>, graceMs: number): void {
    if (graceMs <= 0) return this.#stop(thread)
    clearTimeout(thread.clock)
    thread.clock = setTimeout(() => this.#stop(thread), graceMs).unref()
  }

  /** Terminates a thread; its remaining jobs go to other threads. */
  #stop(thread: Thread<Task, Result>): void {
    void thread.worker.terminate()
    this.#onExit(thread, undefined)
  }

  #assign(): void {
    while (this.#waiting.has(this.#mayHave)) {
      const thread = this.#next()
      if (!thread) return
      const job = this.#waiting.take(this.#mayHave)!
      try {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
        thread.worker.postMessage(job.task)
      } catch (error) {
        // The task cannot be cloned.
        job.reject(error)
        continue
      }
      thread.jobs.push(job)
      job.onStart?.()
      thread.worker.ref()
      if (thread.jobs.length === 1) this.#startClock(thread)
      this.#startMover(thread)
    }
  }

  readonly #mayHave = (from: Origin): boolean => {
    const { threads: atOnce, reserve } = this.#facts
    if (reserve === undefined) return true
    const all = [...this.#threads].flatMap(({ jobs }) => jobs)
    const own = all.filter((job) => job.from === from)
    return mayHaveSlot({ atOnce, reserve }, own.length, all.length)
  }

  #startClock(thread: Thread<Task, Result>): void {
    const { longestMs } = this.#facts
    clearTimeout(thread.clock)
    const [job] = thread.jobs
    if (longestMs === undefined || !job) return
    const onTimeout = () => this.#drop(job, new BaxError('timeout', `processing took longer than ${longestMs} ms`))
    thread.clock = setTimeout(onTimeout, longestMs).unref()
  }

  #startMover(thread: Thread<Task, Result>): void {
    clearTimeout(thread.mover)
    if (thread.jobs.length > 1) thread.mover = setTimeout(() => this.#moveNext(thread), moveAfterMs).unref()
  }

  /** Runs the next task of a thread on another one, if that is idle or can be started; the thread's result is ignored. */
  #moveNext(thread: Thread<Task, Result>): void {
    const [, next] = thread.jobs
    if (!next || next.dropped) return
    const idle = [...this.#threads].some(({ jobs }) => jobs.length === 0)
    if (!idle && this.#threads.size >= this.#facts.threads) return void thread.mover?.refresh()
    thread.jobs[1] = { ...next, dropped: true, resolve: () => {}, reject: () => {} }
    this.#waiting.putBack(next, next.from)
    if (!idle) this.#open()
    this.#assign()
  }

  /** Returns the least busy thread; starts a new one before any thread gets a second task, but see `patienceMs`. */
  #next(): Thread<Task, Result> | undefined {
    let least: Thread<Task, Result> | undefined
    for (const thread of this.#threads) if (!least || thread.jobs.length < least.jobs.length) least = thread
    if (least?.jobs.length === 0) return least
    const { patienceMs, tasksPerThread = 2, reserve = 0 } = this.#facts
    const threads = this.#facts.threads + reserve
    if (this.#threads.size < (patienceMs === undefined ? threads : Math.max(1, threads - 1))) return this.#open()
    if (least && least.jobs.length < tasksPerThread) return least
    if (this.#threads.size < threads) this.#openLater()
    return undefined
  }

  #openLater(): void {
    if (this.#delay) return
    const before = performance.eventLoopUtilization()
    this.#delay = setTimeout(() => {
      this.#delay = undefined
      if (this.#waiting.size === 0) return
      if (performance.eventLoopUtilization(before).utilization < maxUtilization) this.#open()
      this.#assign()
    }, this.#facts.patienceMs).unref()
  }

  #open(): Thread<Task, Result> {
    const { program, heapMb } = this.#facts
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const thread: Thread<Task, Result> = { worker, jobs: [], isReady: false, heap: 0 }
    this.#threads.add(thread)
    let reason: unknown
    worker.on('message', (answer: ThreadAnswer<Result>) => this.#answered(thread, answer))
    worker.on('error', (error) => (reason = error))
    worker.on('exit', () => this.#onExit(thread, reason))
    return thread
  }

  #answered(thread: Thread<Task, Result>, answer: ThreadAnswer<Result>): void {
    thread.isReady = true
    if (answer === 'ready') return
    thread.heap = answer.heap
    const job = thread.jobs.shift()
    if ('result' in answer) job?.resolve(answer.result)
    else job?.reject('refused' in answer ? rebuiltError(answer.refused) : answer.fault)
    if (thread.jobs[0]?.dropped) return this.#stopSoon(thread, this.#facts.graceMs ?? 0)
    this.#startClock(thread)
    this.#startMover(thread)
    this.#assign()
    this.#rest()
  }

  /** Lets the process exit while no thread works, and schedules the end of idle threads. */
  #rest(): void {
    const idle = [...this.#threads].filter(({ jobs }) => jobs.length === 0)
    for (const { worker } of idle) worker.unref()
    const { grown } = this.#facts
    const hasGrown = grown && idle.some(({ heap }) => heap > grown.heapMb * mebibyte)
    const { idleMs } = hasGrown ? grown : this.#facts
    clearTimeout(this.#idle)
    if (idle.length < this.#threads.size) return
    if (idleMs !== undefined) this.#idle = setTimeout(() => void this.#endAll(), idleMs).unref()
  }

  /** Retries the running job once unless it ran out of memory; queued jobs of the thread move to other threads. */
  #onExit(thread: Thread<Task, Result>, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    clearTimeout(thread.clock)
    clearTimeout(thread.mover)
    const [first, ...others] = thread.jobs.splice(0)
    for (const job of others.toReversed()) if (!job.dropped) this.#waiting.putBack(job, job.from)
    if (first && !first.dropped) {
      first.crashes++
      if ((reason as { code?: string } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') first.reject(tooLarge(reason))
      else if (first.crashes < maxCrashes) this.#waiting.putBack(first, first.from)
      else first.reject(reason === undefined ? ended() : crashed(reason))
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

const tooLarge = (cause: unknown): BaxError =>
  new BaxError('content_too_large', 'processing the page exceeds the memory limit', { cause })

const crashed = (cause: unknown): BaxError =>
  new BaxError('internal_error', 'a worker thread crashed twice on one task', { cause })

const ended = (): BaxError =>
  new BaxError('worker_lost', 'the task was interrupted twice: its worker thread ended', { hint: 'repeat the request' })

const shuttingDown = (): BaxError => new BaxError('shutting_down', 'the engine is shutting down')
