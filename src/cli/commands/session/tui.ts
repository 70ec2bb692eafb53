/** `bax tui`: opens the full-screen terminal UI. */
import { BaxError, exits } from '../../../core/errors/errors.ts'
import { interruptedExit } from '../../output/errors.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { needTerminal } from '../../shell/terminal.ts'
import { openTuiHost } from '../../tui/host.ts'

export const command: TerminalCommand = {
  cli: 'tui',
  summary: 'Open the full-screen terminal UI',
  example: ['bax tui', 'bax tui --server http://127.0.0.1:4100'],
  place: 'own process',
  async run(invocation) {
    const { context } = parseInvocation(invocation)
    const { io } = context
    needTerminal(io, 'run it in a terminal; "bax session list" and "bax observe" print to pipes')
    if (io.env['TERM'] === 'dumb')
      throw new BaxError('invalid_request', 'this terminal does not support full-screen UIs (TERM is dumb)', {
        hint: 'run "bax --help" for the other commands',
      })
    return withEngine(context, { when: 'start' }, async (engine) => {
      const { runTui } = await import('../../../tui/run.tsx')
      await runTui(openTuiHost(context, engine))
      return io.signal.aborted ? interruptedExit(io) : exits.done
    })
  },
}
