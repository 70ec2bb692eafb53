/** `bax handoff`: asks a person to take over a session, and waits until they have finished. */
import type { HandoffRecord } from '../../../core/access/handoffs.ts'
import { exits } from '../../../core/errors/errors.ts'
import { handoffFailure, handoffText, untilHandoffEnds } from '../../../core/access/handoff-text.ts'
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
  const ids = { session_id: requested.session_id, handoff_id: requested.handoff_id }
  note(io, `waiting for a person: ${requested.control_url}`)
  const ended = await withdrawOnAbort(
    () => untilHandoffEnds((wait_secs) => engine.ask('getHandoff', { ...ids, wait_secs }, { signal: io.signal })),
    () => engine.ask('withdrawHandoff', ids, {}),
    io.signal,
  )
  const failure = handoffFailure(ended)
  if (!settings.json) await showWarning(io, ended)
  if (settings.json) print(io, JSON.stringify(ended))
  else if (failure) throw failure
  else print(io, handoffText(ended))
  return failure?.exit ?? exits.done
})

/** Withdraws the handoff when the command is interrupted, so that nobody does the work in vain. */
async function withdrawOnAbort(
  work: () => Promise<HandoffRecord>,
  withdraw: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<HandoffRecord> {
  try {
    return await work()
  } catch (error) {
    // The error of the interruption is the one to report.
    if (signal.aborted) await withdraw().catch(() => {})
    throw error
  }
}
