/** `bax shell create`: creates a shell session and prints its ID. */
import { textFlags } from '../../../lines/typed.ts'
import { note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { withSpinner } from '../../output/progress.ts'
import { addVariables, variablesOf } from '../../shell/variables.ts'
import { styleFor } from '../../output/style.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell create',
  summary: 'Create a shell session in a container',
  operation: 'createShell',
  without: ['env'],
  flags: addVariables,
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, ask }) => {
  const env = variablesOf(textFlags(typed.flags, 'env'), io)
  const session = await withSpinner(io, 'creating a shell session', () => ask({ env }))
  if (settings.json) return print(io, JSON.stringify(session))
  const { green, dim } = await styleFor(io, io.stderr)
  const hint = dim(`(continue with: bax shell exec -s ${session.session_id} -- …)`)
  if (io.stdout.isTTY) note(io, `${green('✓')} shell session ready ${hint}`)
  print(io, session.session_id)
  await showWarning(io, session)
})
