/** Threads that run one program and take tasks in turn: started when they are needed, replaced when they break. */
import { Worker } from 'node:worker_threads'
import { BaxError } from './errors.ts'

export interface ThreadPoolFacts {
  /** The built file that each thread runs; see `serveTasks`. */
  readonly program: string
  /** Threads at most. */
  readonly threads: number
  /** Megabytes of objects that one thread may hold; one that wants more breaks. */
  readonly heapMb: number
  /** Milliseconds after which threads without work are ended; without it they stay. */
  readonly idleMs?: number
}

/** What a thread answers: what came of a task, or why nothing did. */
type Answer<Result> = { readonly result: Result } | { readonly fault: unknown }

interface Job<Task, Result> {
  readonly task: Task
  /** Memory that goes over to the thread; none is sent of a task that may have to be sent again. */
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Threads that have broken while they worked on it. */
  broken: number
}

interface Thread<Task, Result> {
  readonly worker: Worker
  /** In the order in which it works on them. */
  readonly jobs: Job<Task, Result>[]
}

/** Tasks that a thread has at a time: the next one is there when one is done. */
const inHand = 2
/** Threads that may break over one task; the next may have been unlucky, not a third. */
const mostBroken = 2

export class ThreadPool<Task, Result> {
  readonly #facts: ThreadPoolFacts
  readonly #threads = new Set<Thread<Task, Result>>()
  readonly #waiting: Job<Task, Result>[] = []
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
    if (!this.#closed && this.#threads.size === 0) this.#rest(this.#open())
  }

  /**
   * What a thread makes of a task, which is copied to it. Tasks are begun in their order.
   * @throws what the program threw; BaxError `internal_error` for a task over which threads break, `shutting_down`
   */
  run(task: Task): Promise<Result> {
    if (this.#closed) return Promise.reject(shuttingDown())
    clearTimeout(this.#idle)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject, broken: 0 })
      this.#assign()
    })
  }

  /** Ends the threads; what they were at is given up. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    const left = [...this.#waiting.splice(0), ...[...this.#threads].flatMap(({ jobs }) => jobs.splice(0))]
    for (const { reject } of left) reject(shuttingDown())
    await this.#endAll()
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#next()
      if (!thread) return
      const job = this.#waiting.shift()!
      thread.jobs.push(job)
      thread.worker.ref()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      thread.worker.postMessage(job.task)
    }
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
    worker.on('message', (answer: Answer<Result>) => this.#answered(thread, answer))
    worker.on('error', (error) => (reason = error))
    worker.on('exit', () => this.#broke(thread, reason))
    return thread
  }

  #answered(thread: Thread<Task, Result>, answer: Answer<Result>): void {
    const job = thread.jobs.shift()
    if ('result' in answer) job?.resolve(answer.result)
    else job?.reject(answer.fault)
    this.#assign()
    if (thread.jobs.length === 0) this.#rest(thread)
  }

  /** A thread without work keeps no process alive. */
  #rest({ worker }: Thread<Task, Result>): void {
    worker.unref()
    const { idleMs } = this.#facts
    if (idleMs === undefined || [...this.#threads].some(({ jobs }) => jobs.length > 0)) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#endAll(), idleMs).unref()
  }

  /** What it was at is tried once more; what waited behind that has lost nothing but time. */
  #broke(thread: Thread<Task, Result>, reason: unknown): void {
    if (!this.#threads.delete(thread)) return
    const [first, ...others] = thread.jobs.splice(0)
    this.#waiting.unshift(...others)
    if (first) {
      first.broken++
      if (first.broken < mostBroken) this.#waiting.unshift(first)
      else first.reject(new BaxError('internal_error', 'a thread broke twice over one task', { cause: reason }))
    }
    if (!this.#closed) this.#assign()
  }

  async #endAll(): Promise<void> {
    const workers = [...this.#threads].map(({ worker }) => worker)
    this.#threads.clear()
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

const shuttingDown = (): BaxError => new BaxError('shutting_down', 'the engine is shutting down')
