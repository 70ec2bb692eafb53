/** The command that waits for a condition. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { duration } from '../../core/shapes/fields.ts'
import { selector, timeoutMs } from '../fields.ts'
import { conditions } from './conditions.ts'

const label = z.string().min(1).max(limits.input.labelChars)
const names = Object.keys(conditions) as (keyof typeof conditions)[]
const { elementMs, navigationMs, evaluateMs, maxMs } = limits.command

export const wait_for = defineCommand({
  kind: 'action',
  summary: 'Wait for an element, text, URL, response or time',
  also: ['wait'],
  positional: [['milliseconds'], ['selector']],
  example: ['500', "'#spinner' --state hidden", '--text Welcome', "--url '**/done'"],
  data: z
    .object({
      selector: selector.optional().describe('Element to wait for, in the state given by `state`'),
      state: z
        .enum(['visible', 'hidden', 'attached', 'detached'])
        .optional()
        .describe('State of the element, visible when omitted; hidden and detached include a missing element'),
      text: label.optional().describe('Text that becomes visible, in upper or lower case, also in frames'),
      text_gone: label.optional().describe('Text that disappears'),
      url: label.optional().describe('Glob of the URL: * matches anything but slashes, ** anything'),
      load: z
        .enum(['load', 'domcontentloaded', 'networkidle'])
        .optional()
        .describe('State of loading; networkidle is 500 ms without requests'),
      function: z
        .string()
        .min(1)
        .optional()
        .describe('JavaScript expression or function that becomes true; promises are awaited'),
      milliseconds: duration(0, maxMs).optional().describe('Time to wait'),
      response: label
        .optional()
        .describe('Glob of the URL of a response that arrives, or has arrived since the last action'),
      timeout_ms: timeoutMs
        .optional()
        .describe(`Timeout in milliseconds; when omitted ${elementMs}, for url, load and response ${navigationMs}`),
    })
    .refine((data) => names.filter((name) => data[name] !== undefined).length === 1, {
      message: `needs exactly one of ${names.join(', ')}`,
    })
    .refine(({ state, selector }) => state === undefined || selector !== undefined, {
      message: 'needs a selector',
      path: ['state'],
    }),
  waits: true,
  // Both times can be the longest; a condition reports its own timeout.
  maxDurationMs: maxMs + evaluateMs,
  result: z.object({
    waited_ms: z.int(),
    url: z.string().optional().describe('URL of the page, or of the response'),
    status_code: z.int().optional().describe('Status of the response'),
  }),
  run: async (context, data) => {
    const started = performance.now()
    const name = names.find((one) => data[one] !== undefined)!
    const isNavigation = name === 'url' || name === 'load' || name === 'response'
    const timeout = data.timeout_ms ?? (isNavigation ? navigationMs : elementMs)
    const found = await conditions[name](context, data as never, timeout)
    return { data: { waited_ms: Math.round(performance.now() - started), ...found } }
  },
})
