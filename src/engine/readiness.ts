/** Whether an engine could do work now: its browser starts, its state folder can be written. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineConfig } from '../core/config/config.ts'
import type { Engine } from '../core/engine.ts'
import { asBaxError } from '../core/errors/errors.ts'
import { writeWhole } from '../core/state/files.ts'
import { limits } from '../core/limits/limits.ts'
import type { ReadyPart } from '../core/shapes/engine.ts'
import { explainDir } from '../core/state/state-dir.ts'
import type { Egress } from './egress/egress.ts'

/** `hasBrowser`: one runs already, which needs no other proof. */
export function readinessOf(config: EngineConfig, egress: Egress, hasBrowser: () => boolean): Engine['readiness'] {
  const { readyMs, startedMs, failedMs } = limits.readiness
  const state = remembered(() => tryState(config), { goodMs: readyMs, badMs: readyMs })
  const launch = remembered(() => tryBrowser(config, egress), { goodMs: startedMs, badMs: failedMs })
  return async () => {
    const [browser, folder] = await Promise.all([hasBrowser() ? { ok: true } : launch(), state()])
    return { browser, state: folder }
  }
}

/** The last look while it is fresh: whoever asks often, and everybody may, costs nothing. */
function remembered(look: () => Promise<ReadyPart>, { goodMs, badMs }: { goodMs: number; badMs: number }) {
  let last: Promise<ReadyPart> | undefined
  let until = 0
  return (): Promise<ReadyPart> => {
    if (last && performance.now() < until) return last
    const fresh = look()
    last = fresh
    until = Infinity
    void fresh.then(({ ok }) => (until = performance.now() + (ok ? goodMs : badMs)))
    return fresh
  }
}

/** Paths and causes are for the log: everybody may read the answer. */
async function tried(
  work: () => Promise<void>,
  { log }: Pick<EngineConfig, 'log'>,
  sentence: (code: string) => string,
): Promise<ReadyPart> {
  try {
    await work()
    return { ok: true }
  } catch (thrown) {
    const { code, message, details } = asBaxError(thrown)
    log('error', 'not ready', { code, error: message, ...(details && { details }) })
    return { ok: false, message: sentence(code) }
  }
}

const tryState = (config: EngineConfig): Promise<ReadyPart> =>
  tried(
    async () => {
      const path = join(config.stateDir, 'ready')
      try {
        // A folder that was deleted is not made again.
        await stat(config.stateDir)
        await writeWhole(path, 'ready')
        await rm(path)
      } catch (error) {
        throw explainDir(error, config.stateDir)
      }
    },
    config,
    (code) => (code === 'no_space' ? 'the disk of the state folder is full' : 'the state folder cannot be written'),
  )

/** Starts one and ends it: what is only found may lack a library, or memory. */
const tryBrowser = (config: EngineConfig, egress: Egress): Promise<ReadyPart> =>
  tried(
    async () => {
      const { RenderBrowser } = await import('./render/browser/render-browser.ts')
      const browser = await RenderBrowser.launch('bare', config, egress)
      await browser.end()
    },
    config,
    (code) => (code === 'browser_not_found' ? 'no browser was found' : 'the browser does not start'),
  )
