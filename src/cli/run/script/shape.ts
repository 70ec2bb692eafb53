/** What a script file may hold; checked when it is read, and shown to editors as JSON Schema. */
import { z } from 'zod'
import { limits } from '../../../core/limits/limits.ts'
import { sessionInput } from '../../../core/shapes/session.ts'

const name = z.string().regex(/^[A-Za-z_][\w-]*$/, 'must be a name of letters, digits, _ and -')

const screenshotFields = z.object({
  path: z.string().min(1).describe('Stored PNG, relative to the script'),
  max_diff_pixels: z.int().min(0).optional().describe('How many pixels may differ; 0 when nothing is given'),
  max_diff_ratio: z.number().min(0).max(1).optional().describe('Which part of the pixels may differ, 0 to 1'),
  threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('How far the colour of a pixel may be off before it differs, 0.2 when not given'),
})

export const screenshotShape = z.union([z.string().min(1), screenshotFields])

/** One expectation, or several about one value. */
export const expectationShape = z.object({
  path: z.string().min(1).optional().describe('Part of the result, e.g. items[0].name; the whole when left out'),
  equals: z.unknown().optional().describe('The value itself'),
  contains: z.unknown().optional().describe('A text that it has, an item of the list, or fields of the object'),
  matches: z.string().optional().describe('Regular expression, or /expression/flags'),
  exists: z.boolean().optional().describe('Whether there is a value that is not null'),
  count: z.int().min(0).optional().describe('Items of the list, characters of the text or fields of the object'),
  less: z.number().optional().describe('The number is below this'),
  greater: z.number().optional().describe('The number is above this'),
  status_code: z.int().min(100).max(599).optional().describe('HTTP status that the page or call answered'),
  schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema that the value fits'),
  screenshot: screenshotShape
    .optional()
    .describe('Stored picture that the page, or the picture of this step, looks like'),
})

export const retryShape = z.union([
  z.int().min(0).max(100),
  z.object({
    count: z.int().min(0).max(100).describe('How often to try again'),
    delay_ms: z.int().min(0).max(limits.command.maxMs).default(0).describe('Wait before each new try'),
    repeat_delivered: z
      .boolean()
      .default(false)
      .describe('Also repeat an action that has reached the page, or may have: it is then done twice'),
  }),
])

/** Keys of a step beside its command. */
export const stepShape = z.object({
  name: z.string().min(1).optional().describe('What the reports call the step'),
  save: name.optional().describe('Keep the result under this name, for ${name}'),
  expect: z
    .union([expectationShape, z.array(expectationShape)])
    .optional()
    .describe('What the result must be'),
  retry: retryShape.optional().describe('How often to try again after a failure'),
  timeout_ms: z.int().min(1).max(limits.command.batchMs).optional().describe('Longest time of one try'),
  when: z.union([z.boolean(), z.string()]).optional().describe('Run only if: ${name}, !${name}, ${name} == value'),
  for_each: z
    .union([z.array(z.unknown()), z.string()])
    .optional()
    .describe('Run once for each item of this list'),
  as: name.optional().describe('Name of the item in for_each, item when not given'),
  continue_on_error: z.boolean().optional().describe('Go on with the next step when this one fails'),
  command: z.string().optional().describe('The command, in the long form'),
  data: z.record(z.string(), z.unknown()).nullish().describe('Fields of the command, in the long form'),
  include: z.string().min(1).optional().describe('Run the steps of another file, relative to this one'),
  vars: z.record(z.string(), z.unknown()).optional().describe('Variables for the included file'),
})

/** The session of a script: what a new one is made with, or which one is used. */
export const sessionShape = z.object({
  ...sessionInput.shape,
  headless: sessionInput.shape.headless.default(true),
  session_id: z.string().min(1).optional().describe('Use this session, by id or name, and leave it open'),
  profile: z.string().min(1).optional().describe('Name of a saved profile to load'),
  keep: z.boolean().default(false).describe('Leave the session open at the end'),
})

export const scriptShape = z.object({
  $schema: z.string().optional().describe('JSON Schema of this file, for editors'),
  name: z.string().min(1).optional().describe('What the reports call the script; its file name when left out'),
  session: z
    .union([z.string().min(1), sessionShape])
    .optional()
    .describe('Fields of a new session, or the id or name of one that is there'),
  vars: z.record(z.string(), z.unknown()).optional().describe('Values for ${vars.name}; --var name=value goes before'),
  secrets: z.array(z.string().min(1)).optional().describe('Environment variables that no output may show'),
  strict: z.boolean().optional().describe('Fail when a selector matches several elements'),
  steps: z.array(z.unknown()).min(1).describe('What to do, in order'),
  finally: z.array(z.unknown()).optional().describe('Steps that run at the end, whatever happened'),
})

export type Expected = z.output<typeof expectationShape>
export type SessionFields = z.output<typeof sessionShape>
