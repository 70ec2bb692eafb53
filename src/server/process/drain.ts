/** Graceful shutdown of a server: running work finishes, new work is rejected. */
import { setMaxListeners } from 'node:events'
import type { MiddlewareHandler } from 'hono'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import { refuse } from '../access/sign-answers.ts'
import type { AppEnv } from '../request/env.ts'
import { outgoingOf } from '../request/requests.ts'
import { kindAt, runsAnywhere } from '../request/routes.ts'

/** Polling interval for work without an open request, in milliseconds. */
const pollMs = 50

/** Returns the number of objects of an engine that a shutdown waits for. */
type Held = (status: EngineStatus) => number

/** Crawls and commands outlive the request that started them. */
const work: Held = ({ crawls, execs }) => crawls + execs

/** A worker keeps what cannot be moved to another one, until its users end it. */
export const workerHeld: Held = (status) => {
  const { sessions, provisions, shells, relays } = status
  return work(status) + sessions + provisions + shells + relays
}

export class Drain {
  readonly #held: Held
  #open = 0
  #until: number | undefined
  #wake = () => {}
  readonly #over = new AbortController()
  /** Aborted when nothing runs any more that could respond. */
  readonly over = this.#over.signal

  constructor(held: Held = work) {
    this.#held = held
    // Every open request listens.
    setMaxListeners(0, this.over)
  }

  get begun(): boolean {
    return this.#until !== undefined
  }

  /** Starts the shutdown: running work has `ms` milliseconds left. Called again, it can only shorten the time. */
  begin(ms: number): void {
    this.#until = Math.min(this.#until ?? Infinity, performance.now() + ms)
    this.#wake()
  }

  /** Called before new work starts. @throws BaxError `shutting_down` with the time until the next server should run */
  assertAccepting(): void {
    if (this.#until !== undefined) throw shuttingDown(this.#until - performance.now())
  }

  /** Called after the engine has closed: requests that are still without a response fail, such as those being received. */
  end(): void {
    this.#over.abort(shuttingDown(0))
  }

  /** Counts a request as work until the returned function is called. */
  track(): () => void {
    this.#open += 1
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#open -= 1
      this.#wake()
    }
  }

  /** Resolves with true when no request, crawl or command runs any more, with false when the time is up. */
  async finished(engine: Pick<Engine, 'status'>): Promise<boolean> {
    for (;;) {
      const left = this.#until! - performance.now()
      if (this.#open === 0) {
        if (this.#held(await engine.status()) === 0) return true
      }
      if (left <= 0) return false
      await this.#changed(this.#open > 0 ? left : Math.min(left, pollMs))
    }
  }

  async #changed(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.#wake = resolve))
    await withDeadline(woken, { ms, value: undefined })
  }
}

const shuttingDown = (leftMs: number): BaxError =>
  new BaxError('shutting_down', 'the server is shutting down', {
    retryAfterSecs: Math.max(1, Math.ceil(leftMs / 1000)),
    hint: 'retry after the time in Retry-After, or on another server',
  })

/**
 * Counts running requests. During shutdown it rejects new work and closes every connection after its response. On a
 * worker, new work is what a gateway may give to another one; requests for objects of the worker are none.
 */
export function drainMiddleware(drain: Drain, isWorker: boolean): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { method, path } = context.req
    const kind = kindAt(method, path)
    if (drain.begun) {
      const isNew = isWorker ? context.get('reservation') !== undefined || runsAnywhere(method, path) : kind === 'new'
      context.header('connection', 'close')
      if (isNew && isWorker) refuse(context, 'draining')
      if (isNew) drain.assertAccepting()
    }
    // Streams are not waited for: the engine ends them when it closes.
    if (kind === 'stream') return next()
    const release = drain.track()
    const outgoing = outgoingOf(context.env)
    outgoing?.once('close', release)
    try {
      await withDeadline(next(), { signal: drain.over })
    } finally {
      if (drain.over.aborted) context.header('connection', 'close')
      if (!outgoing) release()
    }
  }
}
