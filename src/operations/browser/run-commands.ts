/** Batches of commands, steps and observations. */
import { z } from 'zod'
import { flag, identifier, duration } from '../../core/shapes/fields.ts'
import { commandRequest } from '../../commands/index.ts'
import { confirmFields } from '../../core/access/approvals.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { namedOption } from '../../core/operation/input/schema-fields.ts'
import { validateInput } from '../../core/operation/input/valid-input.ts'
import { onAnySession } from '../../core/operation/placement.ts'
import { batchContext, commandsResult, strictSelectors } from '../../core/shapes/commands.ts'
import { pageFailures, sessionId } from './sessions.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { fieldErrorsOf, formatFieldError } from '../../core/errors/input-errors.ts'
import { diff, observation, observationOptions, stepResult } from '../../core/shapes/observe.ts'
import { samples } from '../samples.ts'

/** Fields of the session that a request creates. */
const ofNewSession = {
  headless: z
    .boolean()
    .optional()
    .meta({ opposite: 'headed' })
    .describe('Run without a window, if a session is created for this call'),
  confirm: confirmFields.confirm.describe('Actions that wait for a person, if a session is created for this call'),
}

const batchErrors = ['session_closed', 'cancelled', 'conflict', ...pageFailures] as const

export const runCommands = defineOperation({
  summary: 'Run commands of the catalogue in order',
  description: 'Stops at the first failure unless continue_on_error is set. No command runs if any is malformed.',
  http: 'POST /commands',
  scope: 'browser',
  runs: { ...onAnySession, absent: { on: 'new', slot: 'session' } },
  // No command of its own: `bax do` writes this body; its command names come from the catalogue.
  engine: 'start',
  sample: {
    ...samples.session,
    commands: [{ command: 'navigate_to', data: { url: 'https://example.com' } }, { command: 'get_title' }],
  },
  input: z.object({
    commands: z.array(commandRequest).min(1).max(limits.command.perBatch).describe('Ordered commands'),
    session_id: sessionId.optional().describe('Session to use; one is created when omitted'),
    ...ofNewSession,
    context: batchContext.optional(),
    continue_on_error: flag('Run the remaining commands after a failed one'),
    strict: strictSelectors,
    timeout_ms: duration(1, limits.command.batchMs)
      .optional()
      .describe('Timeout for the whole batch, 300 000 ms when omitted'),
  }),
  output: commandsResult,
  errors: batchErrors,
  run: (engine, input, call) => engine.sessions.runCommands(input, call),
})

export const observe = defineOperation({
  summary: 'Observe the page: content, elements and references',
  description:
    'A reference of the snapshot (`[ref=e12]`) works in every selector field as `ref=e12`, also inside iframes and shadow ' +
    'roots, as long as its element exists. An unchanged page has an identical snapshot.',
  http: 'POST /observe',
  scope: 'browser',
  runs: onAnySession,
  cli: 'observe',
  example: [
    'bax observe',
    'bax observe --interactive-only --selector main',
    'bax observe -s shop --include snapshot,screenshot -o page.png',
  ],
  sample: { ...samples.session, include: ['snapshot', 'tabs'] },
  input: z.object({ session_id: sessionId, ...observationOptions.shape, diff }),
  output: observation,
  errors: [
    'session_closed',
    'element_not_found',
    'invalid_selector',
    'stale_ref',
    'dialog_blocking',
    'timeout',
    ...pageFailures,
  ],
  run: (engine, input, call) => engine.sessions.observe(input, call),
})

export const browserStep = defineOperation({
  summary: 'Run commands and report their effects',
  description:
    'Like POST /commands, but each result includes the page before and after the command and the events in between; ' +
    'the response ends with an observation and the changes.',
  http: 'POST /browser_step',
  scope: 'browser',
  runs: { ...onAnySession, absent: { on: 'new', slot: 'session' } },
  // No command of its own: `bax step` writes this body; its command names come from the catalogue.
  sample: { ...samples.session, command: { command: 'click', data: { selector: 'ref=e12' } } },
  input: z.object({
    session_id: sessionId.optional().describe('Session to use; one is created when omitted'),
    command: z
      .union([commandRequest, identifier])
      .optional()
      .describe('One command as {command, data}, or its name if data is given separately'),
    data: z.record(z.string(), z.unknown()).nullish().describe('Fields of the command, if command is a name'),
    commands: z.array(commandRequest).min(1).max(limits.command.perBatch).optional().describe('Ordered commands'),
    context: batchContext.optional(),
    continue_on_error: flag('Run the remaining commands after a failed one'),
    strict: strictSelectors,
    observe: z
      .union([z.boolean(), observationOptions])
      .default(true)
      .describe('Options of the observation afterwards, as for POST /observe; false for none'),
    screenshot: flag('Add a screenshot to the observation'),
    diff,
    brief: flag(
      'With diff, return only the most relevant lines of a new page, and what the last page had, too, on one line',
    ),
    settle_ms: duration(0, limits.observe.maxSettleMs)
      .default(limits.observe.settleMs)
      .describe('Maximum time to wait for the page to become stable, in milliseconds'),
    ...ofNewSession,
  }),
  output: stepResult,
  errors: batchErrors,
  run: async (engine, { command, data, commands, observe: options, screenshot, ...input }, call) => {
    const observing = options === true ? observationOptions.parse({}) : options || null
    const include =
      observing && screenshot ? [...new Set([...observing.include, 'screenshot' as const])] : observing?.include
    const observation = observing && include ? { ...observing, include } : null
    if (input.diff && !observation) throw invalid('diff', 'diff requires an observation: omit observe')
    const requested = commandsOf(command, data, commands)
    const step = { ...input, commands: requested.commands, observe: observation, screenshot }
    const result = await engine.sessions.step(step, call)
    const warning = [result.warning, requested.warning].filter(Boolean).join('; ')
    return { ...result, ...(warning && { warning }) }
  },
})

type Requested = z.output<typeof commandRequest>

interface RequestedCommands {
  readonly commands: Requested[]
  readonly warning?: string
}

/** Returns `commands`, or `command` as a list. @throws BaxError `invalid_request` unless exactly one is given. */
function commandsOf(
  command: Requested | string | undefined,
  data: Record<string, unknown> | null | undefined,
  commands: Requested[] | undefined,
): RequestedCommands {
  if (commands && command === undefined) return { commands }
  if (commands || command === undefined) throw invalid('command', 'give either command or commands')
  if (typeof command !== 'string') return { commands: [command] }
  const named = { command, ...(data && { data }) }
  const option = namedOption(commandRequest as z.ZodDiscriminatedUnion, named)
  if (!option) {
    const faults = fieldErrorsOf(commandRequest.safeParse(named).error!)
    throw new BaxError('invalid_request', faults.map(formatFieldError).join('; '), { details: faults })
  }
  const { input, warning } = validateInput(option as z.ZodObject, named, false)
  return { commands: [input as Requested], ...(warning !== undefined && { warning }) }
}

const invalid = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', message, { details: [{ path, message }] })
