/** `bax shell attach`: this terminal becomes that of a shell, or of another program, in a session. */
import { operationNamed } from '../../context.ts'
import { shellFor } from '../../session/chosen-session.ts'
import { addShellFlag } from '../../parse/flags.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { limits } from '../../../core/limits/limits.ts'
import { needOf } from '../../engine/need.ts'
import { noShell } from '../../run-operation.ts'
import { needTerminal, runInTerminal } from '../../shell/terminal.ts'
import { addVariables, variablesOf } from '../../shell/variables.ts'

/** The image's bash, or the shell that every image has. */
const shellOfImage = 'command -v bash >/dev/null && exec bash -i || exec sh -i'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.passThroughOptions()
      command.argument('[command...]', 'program and its arguments; a shell when none is given')
      addShellFlag(command)
      command.option('--cwd <folder>', 'folder to start in')
      addVariables(command)
    })
    const { io, settings } = context
    const session_id = shellFor(settings, typed.flags['session'] as string | undefined)?.id
    if (session_id === undefined) throw noShell()
    needTerminal(io)
    const argv = (typed.words[0] ?? []) as readonly string[]
    const env = variablesOf(typed.flags['env'], io)
    const home = openHome(context, needOf(operationNamed(invocation.manifest, 'shellExec'), { session_id }))
    try {
      const { exitCode } = await runInTerminal({
        io,
        transport: home.transport,
        http: 'POST /shell/exec/stream',
        body: {
          session_id,
          ...(argv.length > 0 ? { argv } : { command: shellOfImage }),
          ...(typed.flags['cwd'] !== undefined && { cwd: typed.flags['cwd'] }),
          ...(env && { env }),
          // Somebody who sits there ends it; the session's own times still hold.
          timeout_secs: limits.exec.maxTimeoutSecs,
        },
      })
      return exitCode
    } finally {
      await home.transport.close()
    }
  },
}
