/** Stops the running engine. */
import { readEngineState } from '../../core/state/local-files.ts'
import type { Context } from '../context.ts'
import { withEngine } from './locate-engine.ts'
import { runningEngine } from './need.ts'

/** Stops the engine, and waits for the end of a local one. @throws BaxError `engine_unreachable` if none is running */
export async function stopEngine(context: Context): Promise<void> {
  const { kind, state } = await withEngine(context, runningEngine, async ({ kind, ask }) => {
    const state = kind === 'local' ? readEngineState(context.settings.stateDir) : undefined
    await ask('stopEngine', {}, { signal: context.io.signal })
    return { kind, state }
  })
  if (kind !== 'local') return
  const { engineEnded } = await import('./local-engine.ts')
  await engineEnded(context, state)
}
