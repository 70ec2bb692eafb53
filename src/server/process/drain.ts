/** Graceful shutdown of a server: running work finishes, new work is rejected. */
import type { MiddlewareHandler } from 'hono'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { AppEnv } from '../request/env.ts'
import { outgoingOf } from '../request/requests.ts'
import { kindAt } from '../request/routes.ts'

/** Polling interval for work without an open request, in milliseconds. */
const pollMs = 50

export class Drain {
  #open = 0
  #until: number | undefined
  #wake = () => {}

  get begun(): boolean {
    return this.#until !== undefined
  }

  /** Starts the shutdown: running work has `ms` milliseconds left. */
  begin(ms: number): void {
    this.#until ??= performance.now() + ms
  }

  /** Called before new work starts. @throws BaxError `shutting_down` with the time until the next server should run */
  assertAccepting(): void {
    if (this.#until === undefined) return
    const left = Math.max(1, Math.ceil((this.#until - performance.now()) / 1000))
    throw new BaxError('shutting_down', 'the server is shutting down', {
      retryAfterSecs: left,
      hint: 'retry after the time in Retry-After, or on another server',
    })
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
        // Crawls and commands outlive the request that started them.
        const { crawls, execs } = await engine.status()
        if (crawls + execs === 0) return true
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

/** Counts running requests. During shutdown it rejects new work and closes every connection after its response. */
export function drainMiddleware(drain: Drain): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { method, path } = context.req
    const kind = kindAt(method, path)
    if (drain.begun) {
      context.header('connection', 'close')
      if (kind === 'new') drain.assertAccepting()
    }
    // Streams are not waited for: the engine ends them when it closes.
    if (kind === 'stream') return next()
    const release = drain.track()
    const outgoing = outgoingOf(context.env)
    outgoing?.once('close', release)
    try {
      await next()
    } finally {
      if (!outgoing) release()
    }
  }
}
