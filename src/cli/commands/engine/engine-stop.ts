/** `bax engine stop`: asks the local engine to end and waits until it has. */
import { call } from '../../../client/client.ts'
import { readEngineState } from '../../../core/state/local-home.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note } from '../../io.ts'
import { runningEngine } from '../../engine/need.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context } = begin(invocation)
    const home = openHome(context, runningEngine)
    const state = home.kind === 'local' ? readEngineState(context.settings.stateDir) : undefined
    try {
      const { http } = operationNamed(context.manifest, 'stopEngine')
      await call(home.transport, http, {}, { signal: context.io.signal })
    } finally {
      await home.transport.close()
    }
    if (home.kind === 'local') {
      const { engineEnded } = await import('../../engine/local-engine.ts')
      await engineEnded(context, state)
    }
    if (context.io.stderr.isTTY) note(context.io, 'the engine has ended')
    return 0
  },
}
