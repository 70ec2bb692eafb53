import { z } from 'zod'
import { flag, integer } from '../../core/shapes/fields.ts'
import { commandRequest } from '../../commands/index.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { batchContext, commandsResult, strictSelectors } from '../../core/shapes/commands.ts'
import { sessionId } from './sessions.ts'

export const runCommands = defineOperation({
  summary: 'Run commands of the catalogue in order',
  description: 'Stops at the first failure unless continue_on_error is set. No command runs if any is malformed.',
  http: 'POST /commands',
  scope: 'browser',
  // No command of its own: `bax do` writes this body; its command names come from the catalogue.
  show: { as: 'commands' },
  input: z.object({
    commands: z.array(commandRequest).min(1).max(limits.command.perBatch).describe('Ordered commands'),
    session_id: sessionId.optional().describe('Session to use; one is created when omitted'),
    headless: z.boolean().optional().describe('Run without a window, if a session is created for this call'),
    context: batchContext.optional(),
    continue_on_error: flag('Run the remaining commands after a failed one'),
    strict: strictSelectors,
    timeout_ms: integer(1, limits.command.batchMs)
      .optional()
      .describe('Timeout for the whole batch, 300 000 ms when omitted'),
  }),
  output: commandsResult,
  errors: ['session_not_found', 'session_closed', 'rate_limited', 'no_capacity', 'worker_lost', 'cancelled'],
  run: (engine, input, call) => engine.sessions.runCommands(input, call),
})
