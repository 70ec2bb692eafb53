/** `bax handoff`: asks a person to take over a session, and waits until they have finished. */
import { exits } from '../../../core/errors/errors.ts'
import { untilHandoffEnds } from '../../../client/handoff.ts'
import { handoffFailure, handoffText } from '../../../core/access/handoff-text.ts'
import { note, print } from '../../io.ts'
import { showWarning } from '../../output/output.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'handoff',
  summary: 'Ask a person to take over a session',
  operation: 'requestHandoff',
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, engine, ask }) => {
  const requested = await ask()
  note(io, `waiting for a person: ${requested.control_url}`)
  const ended = await untilHandoffEnds(engine, requested, io.signal)
  const failure = handoffFailure(ended)
  if (!settings.json) await showWarning(io, ended)
  if (settings.json) print(io, JSON.stringify(ended))
  else if (failure) throw failure
  else print(io, handoffText(ended))
  return failure?.exit ?? exits.done
})
