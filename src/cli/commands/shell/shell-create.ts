/** `bax shell create`: a session that stays; its id is printed. */
import { call } from '../../../client/client.ts'
import type { ShellSession } from '../../../core/shapes/shell/session.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { startSpinner } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { addVariables, variablesOf } from '../../shell/variables.ts'
import { styleFor } from '../../output/style.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const whole = operationNamed(invocation.manifest, 'createShell')
    const operation = { ...whole, params: whole.params.filter(({ name }) => name !== 'env') }
    const { context, typed } = begin(invocation, (command) => {
      addOperation(command, operation)
      addVariables(command)
    })
    const { io, settings } = context
    const env = variablesOf(typed.flags['env'], io)
    const input = { ...readOperation(context, operation, typed).input, ...(env && { env }) }
    const home = openHome(context, { when: 'start' })
    const spinner = await startSpinner(io, 'creating a shell session')
    try {
      const options = { signal: io.signal, strict: true }
      const session = (await call(home.transport, operation.http, input, options)) as ShellSession
      spinner.stop()
      if (settings.json) print(io, JSON.stringify(session))
      else {
        const { green, dim } = await styleFor(io, io.stderr)
        const hint = dim(`(go on with: bax shell exec -s ${session.session_id} -- …)`)
        if (io.stdout.isTTY) note(io, `${green('✓')} shell session ready ${hint}`)
        print(io, session.session_id)
        await showWarning(io, session)
      }
      return 0
    } finally {
      spinner.stop()
      await home.transport.close()
    }
  },
}
