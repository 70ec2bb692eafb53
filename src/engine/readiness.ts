/** Readiness of an engine: its browser starts and its state folder is writable. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineConfig } from '../core/config/config.ts'
import type { Engine } from '../core/engine.ts'
import { asBaxError } from '../core/errors/errors.ts'
import { writeAtomic } from '../core/state/files.ts'
import { limits } from '../core/limits/limits.ts'
import type { ReadyPart } from '../core/shapes/engine.ts'
import { explainDir } from '../core/state/state-dir.ts'
import type { Egress } from './egress/egress.ts'

/** Builds the readiness check; `hasBrowser` returns whether a responsive browser runs already. */
export function readinessOf(config: EngineConfig, egress: Egress, hasBrowser: () => boolean): Engine['readiness'] {
  const { readyMs, startedMs, failedMs } = limits.readiness
  const state = cached(() => tryState(config), { goodMs: readyMs, badMs: readyMs })
  const launch = cached(() => tryBrowser(config, egress), { goodMs: startedMs, badMs: failedMs })
  return async ({ fresh = false } = {}) => {
    const [browser, folder] = await Promise.all([!fresh && hasBrowser() ? { ok: true } : launch(fresh), state()])
    return { browser, state: folder }
  }
}

/** Caches the result of a check, so that frequent unauthenticated requests cost nothing. */
function cached(check: () => Promise<ReadyPart>, { goodMs, badMs }: { goodMs: number; badMs: number }) {
  let last: Promise<ReadyPart> | undefined
  let until = 0
  /** `fresh` also discards a result that is still valid, but joins a check that is running. */
  return (fresh = false): Promise<ReadyPart> => {
    if (last && performance.now() < until && !(fresh && until < Infinity)) return last
    const next = check()
    last = next
    until = Infinity
    void next.then(({ ok }) => (until = performance.now() + (ok ? goodMs : badMs)))
    return next
  }
}

/** Runs a check; logs paths and causes, which the public response must not contain. */
async function attempt(
  work: () => Promise<void>,
  { log }: Pick<EngineConfig, 'log'>,
  messageFor: (code: string) => string,
): Promise<ReadyPart> {
  try {
    await work()
    return { ok: true }
  } catch (thrown) {
    const { code, message, details } = asBaxError(thrown)
    log('error', 'not ready', { code, error: message, ...(details && { details }) })
    return { ok: false, message: messageFor(code) }
  }
}

const tryState = (config: EngineConfig): Promise<ReadyPart> =>
  attempt(
    async () => {
      const path = join(config.stateDir, 'ready')
      try {
        // Do not create a folder that was deleted.
        await stat(config.stateDir)
        await writeAtomic(path, 'ready')
        await rm(path)
      } catch (error) {
        throw explainDir(error, config.stateDir)
      }
    },
    config,
    (code) => (code === 'no_space' ? 'the disk of the state folder is full' : 'the state folder cannot be written'),
  )

/** Launches a browser and ends it: an installed one may still lack a library, or memory. */
const tryBrowser = (config: EngineConfig, egress: Egress): Promise<ReadyPart> =>
  attempt(
    async () => {
      const { RenderBrowser } = await import('./render/browser/render-browser.ts')
      const browser = await RenderBrowser.launch('bare', config, { egress })
      await browser.end()
    },
    config,
    (code) => (code === 'browser_not_found' ? 'no browser was found' : 'the browser does not start'),
  )
