/** The Playwright trace of a session, started by a command or by `POST /diagnostics/{id}/trace`. */
import type { BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { oncePer } from '../../once-per.ts'
import type { Recorder } from './recorder.ts'
import { markTraced } from './traced.ts'

/** Returns the trace of a session; it is discarded when the session ends. */
export const traceOf = oncePer((context: BrowserContext) => new Trace(context))

class Trace {
  readonly #context: BrowserContext
  #running = false

  constructor(context: BrowserContext) {
    this.#context = context
  }

  /** @throws BaxError `conflict` when it is already running. */
  async start(): Promise<void> {
    if (this.#running) throw new BaxError('conflict', 'the session is already being traced')
    this.#running = true
    try {
      markTraced(this.#context, true)
      await this.#context.tracing.start({ screenshots: true, snapshots: true })
    } catch (error) {
      this.#running = false
      markTraced(this.#context, false)
      throw error
    }
  }

  /** Ends the trace, and writes it if a path is given. @throws BaxError `conflict` when it is not running. */
  async stop(path?: string): Promise<void> {
    if (!this.#running) {
      throw new BaxError('conflict', 'the session is not being traced', { hint: 'start a trace first' })
    }
    this.#running = false
    markTraced(this.#context, false)
    await this.#context.tracing.stop(path === undefined ? {} : { path })
  }
}

export async function recordTrace({ browserContext }: { readonly browserContext: BrowserContext }): Promise<Recorder> {
  const trace = traceOf(browserContext)
  await trace.start()
  return {
    finish: async (path) => {
      await trace.stop(path)
      return {}
    },
    discard: () => trace.stop(),
  }
}
