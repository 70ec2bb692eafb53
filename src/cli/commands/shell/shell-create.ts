/** `bax shell create`: creates a shell session and prints its ID. */
import { call } from '../../../client/client.ts'
import type { ShellSession } from '../../../core/shapes/shell/session.ts'
import { operationNamed } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { withSpinner } from '../../output/progress.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { addVariables, variablesOf } from '../../shell/variables.ts'
import { styleFor } from '../../output/style.ts'

export const command: TerminalCommand = async (invocation) => {
  const whole = operationNamed(invocation.manifest, 'createShell')
  const operation = { ...whole, params: whole.params.filter(({ name }) => name !== 'env') }
  const { context, typed } = parseInvocation(invocation, (command) => {
    addOperation(command, operation)
    addVariables(command)
  })
  const { io, settings } = context
  const env = variablesOf(typed.flags['env'], io)
  const input = { ...readOperation(context, operation, typed).input, ...(env && { env }) }
  return withEngine(context, { when: 'start' }, async ({ transport }) => {
    const options = { signal: io.signal, strict: true }
    const create = () => call(transport, operation.http, input, options)
    const session = (await withSpinner(io, 'creating a shell session', create)) as ShellSession
    if (settings.json) print(io, JSON.stringify(session))
    else {
      const { green, dim } = await styleFor(io, io.stderr)
      const hint = dim(`(continue with: bax shell exec -s ${session.session_id} -- …)`)
      if (io.stdout.isTTY) note(io, `${green('✓')} shell session ready ${hint}`)
      print(io, session.session_id)
      await showWarning(io, session)
    }
  })
}
