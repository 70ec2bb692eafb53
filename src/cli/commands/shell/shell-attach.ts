/** `bax shell attach`: runs a shell or another program of a session in this terminal. */
import { listedWords, textFlag, textFlags } from '../../../lines/typed.ts'
import { uncheckedFields } from '../../../client/calls.ts'
import { operationNamed } from '../../context.ts'
import { shellFor } from '../../session/chosen-session.ts'
import { addShellFlag } from '../../../lines/flags.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { limits } from '../../../core/limits/limits.ts'
import { needOf } from '../../engine/need.ts'
import { noShell } from '../../run-operation.ts'
import { needTerminal, runInTerminal } from '../../shell/terminal.ts'
import { addVariables, variablesOf } from '../../shell/variables.ts'

/** Command that starts bash, or sh in images without bash. */
const shellOfImage = 'command -v bash >/dev/null && exec bash -i || exec sh -i'

export const command: TerminalCommand = {
  cli: 'shell attach [command…]',
  summary: 'Attach this terminal to a shell session',
  example: ['bax shell attach -s data', 'bax shell attach -s data --cwd /output python3'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.passThroughOptions()
      command.argument('[command...]', 'program and its arguments; by default a shell')
      addShellFlag(command)
      command.option('--cwd <folder>', 'folder to start in')
      addVariables(command)
    })
    const { io, settings } = context
    const session_id = shellFor(settings, textFlag(typed.flags, 'session'))?.id
    if (session_id === undefined) throw noShell()
    needTerminal(io, 'run "bax shell exec -s ID -- …" without a terminal instead')
    const argv = listedWords(typed.words, 0)
    const env = variablesOf(textFlags(typed.flags, 'env'), io)
    return withEngine(
      context,
      needOf(operationNamed(invocation.manifest, 'shellExec'), { session_id }),
      async (engine) => {
        const { exitCode } = await runInTerminal({
          io,
          engine,
          body: uncheckedFields({
            session_id,
            ...(argv.length > 0 ? { argv } : { command: shellOfImage }),
            ...(typed.flags['cwd'] !== undefined && { cwd: typed.flags['cwd'] }),
            ...(env && { env }),
            // The user ends the program; the timeouts of the session still apply.
            timeout_secs: limits.exec.maxTimeoutSecs,
          }),
        })
        return exitCode
      },
    )
  },
}
