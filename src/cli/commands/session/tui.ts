/** `bax tui`: the engine on one full screen. */
import { BaxError, exits } from '../../../core/errors/errors.ts'
import { interruptedExit } from '../../output/errors.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { needTerminal } from '../../shell/terminal.ts'
import { openDesk } from '../../tui/desk.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context } = begin(invocation)
    const { io } = context
    needTerminal(io)
    if (io.env['TERM'] === 'dumb')
      throw new BaxError('invalid_request', 'this terminal cannot show a full screen (TERM is dumb)', {
        hint: 'use the other commands: `bax --help`',
      })
    const home = openHome(context, { when: 'start' })
    try {
      const { runTui } = await import('../../../tui/run.tsx')
      await runTui(openDesk(context, home))
      return io.signal.aborted ? interruptedExit(io) : exits.done
    } finally {
      await home.transport.close()
    }
  },
}
