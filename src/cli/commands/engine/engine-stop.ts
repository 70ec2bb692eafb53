/** `bax engine stop`: stops the local engine, and waits for its end. */
import { readEngineState } from '../../../core/state/local-files.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note } from '../../io.ts'
import { runningEngine } from '../../engine/need.ts'

export const command: TerminalCommand = {
  cli: 'engine stop',
  summary: 'Stop the local engine and its sessions',
  place: 'own process',
  async run(invocation) {
    const { context } = parseInvocation(invocation)
    const { kind, state } = await withEngine(context, runningEngine, async ({ kind, ask }) => {
      const state = kind === 'local' ? readEngineState(context.settings.stateDir) : undefined
      await ask('stopEngine', {}, { signal: context.io.signal })
      return { kind, state }
    })
    if (kind === 'local') {
      const { engineEnded } = await import('../../engine/local-engine.ts')
      await engineEnded(context, state)
    }
    if (context.io.stderr.isTTY) note(context.io, 'the engine has stopped')
  },
}
