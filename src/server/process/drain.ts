/** The end of a server that nobody notices: what runs is finished, what is new goes elsewhere. */
import type { MiddlewareHandler } from 'hono'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { AppEnv } from '../request/env.ts'
import { outgoingOf } from '../request/requests.ts'
import { kindAt } from '../request/routes.ts'

/** Pause between two looks at work that no open request stands for. */
const lookMs = 50

export class Drain {
  /** Requests at work. */
  #held = 0
  #until: number | undefined
  #woken = () => {}

  get begun(): boolean {
    return this.#until !== undefined
  }

  /** From now on nothing new is begun; what runs has `ms`. */
  begin(ms: number): void {
    this.#until ??= performance.now() + ms
  }

  /**
   * What new work asks before it begins.
   * @throws BaxError `shutting_down` with the time after which another server can be expected here.
   */
  refuseNew(): void {
    if (this.#until === undefined) return
    const left = Math.max(1, Math.ceil((this.#until - performance.now()) / 1000))
    throw new BaxError('shutting_down', 'the server is about to end', {
      retryAfterSecs: left,
      hint: 'repeat the request after the time in Retry-After, or at another server',
    })
  }

  /** Counts a request as work until the function that it gives is called. */
  hold(): () => void {
    this.#held += 1
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#held -= 1
      this.#woken()
    }
  }

  /** Resolves with true when no request, crawl and command is at work any more, with false when the time is up. */
  async finished(engine: Pick<Engine, 'status'>): Promise<boolean> {
    for (;;) {
      const left = this.#until! - performance.now()
      if (this.#held === 0 && !(await isAtWork(engine))) return true
      if (left <= 0) return false
      await this.#changed(this.#held > 0 ? left : Math.min(left, lookMs))
    }
  }

  async #changed(ms: number): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.#woken = resolve))
    await withDeadline(woken, { ms, value: undefined })
  }
}

/** Crawls and commands go on without the request that began them. */
async function isAtWork(engine: Pick<Engine, 'status'>): Promise<boolean> {
  const { crawls, execs } = await engine.status()
  return crawls + execs > 0
}

/** Counts what runs; refuses what is new once the end has begun, and lets go of every connection. */
export function drainer(drain: Drain): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const { method, path } = context.req
    const kind = kindAt(method, path)
    if (drain.begun) {
      context.header('connection', 'close')
      if (kind === 'new') drain.refuseNew()
    }
    // Who only watches is told of the end when it comes.
    if (kind === 'watching') return next()
    const letGo = drain.hold()
    const outgoing = outgoingOf(context.env)
    outgoing?.once('close', letGo)
    try {
      await next()
    } finally {
      if (!outgoing) letGo()
    }
  }
}
