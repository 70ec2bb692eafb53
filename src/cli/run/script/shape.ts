/** Schemas of script files, for validation and for editors as JSON Schema. */
import { z } from 'zod'
import { limits } from '../../../core/limits/limits.ts'
import { fingerprint } from '../../../core/shapes/recording.ts'
import { sessionInput } from '../../../core/shapes/session.ts'

const name = z.string().regex(/^[A-Za-z_][\w-]*$/, 'must be a name of letters, digits, _ and -')

const diffLimits = z.object({
  max_diff_pixels: z.int().min(0).optional().describe('Maximum number of different pixels, 0 by default'),
  max_diff_ratio: z.number().min(0).max(1).optional().describe('Maximum share of different pixels, 0 to 1'),
  threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Colour difference from which a pixel counts as different, 0 to 1, 0.2 by default'),
})

const screenshotFields = z.object({
  path: z.string().min(1).describe('Stored PNG, relative to the script'),
  ...diffLimits.shape,
})

export const screenshotShape = z.union([z.string().min(1), screenshotFields])

/** One or several conditions on one value. */
export const expectationShape = z.object({
  path: z.string().min(1).optional().describe('Part of the result, e.g. items[0].name; the whole result by default'),
  equals: z.unknown().optional().describe('Exact value'),
  contains: z.unknown().optional().describe('Part of the text, item of the list, or fields of the object'),
  matches: z.string().optional().describe('Regular expression, or /expression/flags'),
  exists: z.boolean().optional().describe('Whether the value exists and is not null'),
  count: z
    .int()
    .min(0)
    .optional()
    .describe('Number of items in the list, characters in the text or fields in the object'),
  less: z.number().optional().describe('Exclusive maximum of the number'),
  greater: z.number().optional().describe('Exclusive minimum of the number'),
  status_code: z.int().min(100).max(599).optional().describe('HTTP status of the page or response'),
  schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema that the value matches'),
  screenshot: screenshotShape
    .optional()
    .describe('Stored screenshot to compare the page, or the screenshot of this step, with'),
})

const retryFields = z.object({
  count: z.int().min(0).max(100).describe('Number of retries'),
  delay_ms: z.int().min(0).max(limits.command.maxMs).default(0).describe('Delay before each retry, in milliseconds'),
  repeat_delivered: z
    .boolean()
    .default(false)
    .describe('Also retry actions that reached the page, or may have reached it, and so may happen twice'),
})

export const retryShape = z.union([z.int().min(0).max(100), retryFields])

/** Keys of a step other than its command. */
export const stepShape = z.object({
  name: z.string().min(1).optional().describe('Name of the step in reports'),
  save: name.optional().describe('Name to save the result under, for ${name}'),
  expect: z
    .union([expectationShape, z.array(expectationShape)])
    .optional()
    .describe('Conditions on the result'),
  retry: retryShape.optional().describe('Number of retries after a failure'),
  timeout_ms: z.int().min(1).max(limits.command.batchMs).optional().describe('Timeout of one attempt, in milliseconds'),
  when: z
    .union([z.boolean(), z.string()])
    .optional()
    .describe('Condition to run the step: ${name}, !${name}, ${name} == value'),
  for_each: z
    .union([z.array(z.unknown()), z.string()])
    .optional()
    .describe('List of items to run the step for'),
  as: name.optional().describe('Name of the item in for_each, item by default'),
  continue_on_error: z.boolean().optional().describe('Continue with the next step when this one fails'),
  command: z.string().optional().describe('Name of the command, in the long form'),
  data: z.record(z.string(), z.unknown()).nullish().describe('Fields of the command, in the long form'),
  fingerprint: fingerprint
    .optional()
    .describe('Facts of the element, by which it is found when the selector no longer matches'),
  include: z.string().min(1).optional().describe('Script file to run, relative to this one'),
  vars: z.record(z.string(), z.unknown()).optional().describe('Variables for the included file'),
})

/** The session of a script: options of a new session, or an existing one. */
export const sessionShape = z.object({
  ...sessionInput.shape,
  headless: sessionInput.shape.headless.default(true),
  session_id: z.string().min(1).optional().describe('ID or name of an existing session, which stays open'),
  profile: z.string().min(1).optional().describe('Name of a saved profile to load'),
  keep: z.boolean().default(false).describe('Leave the session open at the end'),
})

export const scriptShape = z.object({
  $schema: z.string().optional().describe('JSON Schema of this file, for editors'),
  name: z.string().min(1).optional().describe('Name of the script in reports; its file name by default'),
  session: z
    .union([z.string().min(1), sessionShape])
    .optional()
    .describe('Options of a new session, or the ID or name of an existing one'),
  vars: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Values for ${vars.name}; --var name=value overrides them'),
  secrets: z.array(z.string().min(1)).optional().describe('Environment variables to mask in all output'),
  strict: z.boolean().optional().describe('Fail when a selector matches several elements'),
  steps: z.array(z.unknown()).min(1).describe('Steps, in order'),
  finally: z.array(z.unknown()).optional().describe('Steps to run at the end in any case'),
})

export type DiffLimits = z.output<typeof diffLimits>
export type Retry = z.output<typeof retryFields>
export type Expected = z.output<typeof expectationShape>
export type SessionFields = z.output<typeof sessionShape>
