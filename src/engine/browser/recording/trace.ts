/** The Playwright trace of a session, started by a command or by `POST /diagnostics/{id}/trace`. */
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BrowserContext } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { writeAtomic } from '../../../core/state/files.ts'
import { oncePer } from '../../../core/once-per.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import { privacyOf } from '../privacy/privacy.ts'
import type { Recorder } from './recorder.ts'
import { markTraced } from './traced.ts'

/** Returns the trace of a session; it is discarded when the session ends. */
export const traceOf = oncePer((context: BrowserContext) => new Trace(context))

class Trace {
  readonly #context: BrowserContext
  #running = false
  /** File of a trace that ended early, until it is stopped. */
  #early: string | undefined
  #release = () => {}

  constructor(context: BrowserContext) {
    this.#context = context
    context.once('close', () => void this.#discardEarly())
  }

  /** @throws BaxError `conflict` when it is already running. */
  async start(): Promise<void> {
    if (this.#running) throw new BaxError('conflict', 'the session is already being traced')
    const privacy = privacyOf(this.#context)
    privacy.assertInactive()
    this.#running = true
    this.#release = privacy.beforeBegin(() => this.#endEarly())
    try {
      markTraced(this.#context, true)
      await this.#context.tracing.start({ screenshots: true, snapshots: true })
    } catch (error) {
      this.#running = false
      this.#release()
      markTraced(this.#context, false)
      throw error
    }
  }

  /**
   * Ends the trace, and writes it if a path is given. Returns why it ended before, if it did.
   * @throws BaxError `conflict` when it is not running.
   */
  async stop(path?: string): Promise<{ truncated?: string }> {
    if (!this.#running) {
      throw new BaxError('conflict', 'the session is not being traced', { hint: 'start a trace first' })
    }
    this.#running = false
    this.#release()
    const early = this.#early
    if (early === undefined) {
      await this.#end(path)
      return {}
    }
    if (path !== undefined) await copyFile(early, path)
    await this.#discardEarly()
    return { truncated: 'it ended when a person took control for a handoff' }
  }

  async #end(path?: string): Promise<void> {
    markTraced(this.#context, false)
    await this.#context.tracing.stop(path === undefined ? {} : { path })
    if (path === undefined) return
    const zip = await readFile(path)
    const hidden = await secretsOf(this.#context).hideInTrace(zip)
    if (hidden !== zip) await writeAtomic(path, hidden)
  }

  /** Ends the trace before a person gets control: Playwright cannot leave out a part of it. */
  async #endEarly(): Promise<void> {
    if (this.#early !== undefined) return
    const path = join(await mkdtemp(join(tmpdir(), 'bax-trace-')), 'trace.zip')
    this.#early = path
    await this.#end(path)
  }

  async #discardEarly(): Promise<void> {
    if (this.#early !== undefined) await rm(dirname(this.#early), { recursive: true, force: true })
    this.#early = undefined
  }
}

export async function recordTrace({ browserContext }: { readonly browserContext: BrowserContext }): Promise<Recorder> {
  const trace = traceOf(browserContext)
  await trace.start()
  return {
    finish: (path) => trace.stop(path),
    discard: async () => void (await trace.stop()),
  }
}
