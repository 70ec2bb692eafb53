/** `bax engine stop`: stops the local engine, and waits for its end. */
import { stopEngine } from '../../engine/stop-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note } from '../../io.ts'

export const command: TerminalCommand = {
  cli: 'engine stop',
  summary: 'Stop the local engine and its sessions',
  place: 'own process',
  async run(invocation) {
    const { context } = parseInvocation(invocation)
    await stopEngine(context)
    if (context.io.stderr.isTTY) note(context.io, 'the engine has stopped')
  },
}
