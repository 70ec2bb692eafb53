import { z } from 'zod'
import { commandRequest } from '../../commands/index.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { faultsOf, sentenceOf } from '../../core/errors/input-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { batchContext, strictSelectors } from '../../core/shapes/commands.ts'
import { diff, observation, observationWishes, stepResult } from '../../core/shapes/observe.ts'
import { sessionId } from './sessions.ts'
import { identifier } from '../../core/shapes/text.ts'

/** What keeps a page from being observed: a 200 with an error. */
const failuresOfPages = ['element_not_found', 'invalid_selector', 'stale_ref', 'target_closed'] as const

export const observe = defineOperation({
  summary: 'Look at the page: what is on it, what can be used, and how to name it',
  description:
    'A reference of the snapshot (`[ref=e12]`) works in every selector field as `ref=e12`, inside iframes and shadow roots ' +
    'too, for as long as its element lives. An unchanged page is described in the same words again.',
  http: 'POST /observe',
  scope: 'browser',
  cli: 'observe',
  example: 'bax observe -s shop --include snapshot,screenshot',
  input: z.object({ session_id: sessionId, ...observationWishes.shape, diff }),
  output: observation,
  errors: ['session_not_found', 'session_closed', 'rate_limited', 'worker_lost', ...failuresOfPages],
  run: (engine, input, call) => engine.sessions.observe(input, call),
})

export const browserStep = defineOperation({
  summary: 'Run commands and see what they did to the page',
  description:
    'Like POST /commands, and each result says where the page was before and after and what happened meanwhile; ' +
    'the answer ends with an observation and what has changed.',
  http: 'POST /browser_step',
  scope: 'browser',
  // `bax step` writes this body; its words come from the catalogue.
  cli: null,
  input: z.object({
    session_id: sessionId.optional().describe('Session to use; one is created when it is left out'),
    command: z
      .union([commandRequest, identifier])
      .optional()
      .describe('One command, {command, data}, or its name with data beside it'),
    data: z.record(z.string(), z.unknown()).nullish().describe('Fields of the command whose name command gives'),
    commands: z.array(commandRequest).min(1).max(limits.command.perBatch).optional().describe('Ordered commands'),
    context: batchContext.optional(),
    continue_on_error: z.boolean().default(false).describe('Run the remaining commands after a failed one'),
    strict: strictSelectors,
    observe: z
      .union([z.boolean(), observationWishes])
      .default(true)
      .describe('What to look at afterwards, as POST /observe has it; false for nothing'),
    screenshot: z.boolean().default(false).describe('Add a screenshot to the observation'),
    diff,
    settle_ms: z
      .int()
      .min(0)
      .max(limits.observe.maxSettleMs)
      .default(limits.observe.settleMs)
      .describe('Wait for the page to come to rest at most so long'),
    headless: z.boolean().optional().describe('Without a window, when a session is made for this call'),
  }),
  output: stepResult,
  errors: ['session_not_found', 'session_closed', 'rate_limited', 'no_capacity', 'worker_lost', 'cancelled'],
  run: (engine, { command, data, commands, observe: wishes, screenshot, ...input }, call) => {
    const observing = wishes === true ? observationWishes.parse({}) : wishes || null
    const include =
      observing && screenshot ? [...new Set([...observing.include, 'screenshot' as const])] : observing?.include
    const looks = observing && include ? { ...observing, include } : null
    if (input.diff && !looks) throw fault('diff', 'needs an observation to compare: leave observe out')
    return engine.sessions.step(
      { ...input, commands: commandsOf(command, data, commands), observe: looks, screenshot },
      call,
    )
  },
})

type Requested = z.output<typeof commandRequest>

/** One of `command` and `commands`. @throws BaxError `invalid_request`. */
function commandsOf(
  command: Requested | string | undefined,
  data: Record<string, unknown> | null | undefined,
  commands: Requested[] | undefined,
): Requested[] {
  if ((command === undefined) === (commands === undefined)) throw fault('command', 'give one of command and commands')
  if (commands) return commands
  if (typeof command !== 'string') return [command!]
  const parsed = commandRequest.safeParse({ command, ...(data && { data }) })
  if (parsed.success) return [parsed.data]
  const faults = faultsOf(parsed.error)
  throw new BaxError('invalid_request', faults.map(sentenceOf).join('; '), { details: faults })
}

const fault = (path: string, message: string): BaxError =>
  new BaxError('invalid_request', message, { details: [{ path, message }] })
