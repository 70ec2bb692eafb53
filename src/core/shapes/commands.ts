/** Data shapes of command batches and their results (`spec: contract 5`). */
import { z } from 'zod'
import type { ActionKind } from '../access/approvals.ts'
import { commandDialog } from './dialogs.ts'
import { flag, named } from './fields.ts'
import { limits } from '../limits/limits.ts'
import { commandDownload } from './session-files.ts'

const { contextChars } = limits.input

/** Metadata of a batch, included in all its events. */
export const batchContext = z
  .record(z.string(), z.unknown())
  .refine((context) => JSON.stringify(context).length <= contextChars, {
    message: `must have at most ${contextChars} characters as JSON`,
  })
  .describe('Thread or task metadata, kept with the events')

/** Field of every request with commands. */
export const strictSelectors = flag(
  'Fail with ambiguous_selector when a selector matches several elements, instead of using the first visible one',
)

export const box = z.object({
  x: z.number().describe('CSS pixels from the left of the viewport'),
  y: z.number().describe('CSS pixels from the top of the viewport'),
  width: z.number(),
  height: z.number(),
})

export const boundingBox = box.extend({
  index: z.int().describe('Number of the element from 0, as drawn on the page'),
  tag: z.string(),
  text: z.string().describe('Text on one line, at most 80 characters'),
  visible: z.boolean(),
  html: z.string().optional().describe('Outer HTML, truncated to 10 000 characters; only with include_html'),
})

/** A control that an annotated screenshot marks. */
export const annotation = z.object({
  ref: z.string().describe('Reference, as drawn; the selector is ref=e12'),
  role: z.string(),
  name: z.string(),
  box: box.describe('CSS pixels from the top left of the image'),
})

export type Annotation = z.output<typeof annotation>

export type BoundingBox = z.output<typeof boundingBox>

export const commandResult = named('CommandResult', {
  success: z.boolean(),
  command_type: z.enum(['action', 'extraction']),
  command: z.string(),
  index: z.int().describe('Position in the batch, from 0'),
  duration_ms: z.int().optional(),
  content_type: z
    .enum(['data', 'markdown', 'html', 'json', 'image/png', 'image/jpeg', 'image/webp', 'application/pdf'])
    .optional()
    .describe('Type of the content that an extraction returned'),
  matches: z
    .int()
    .min(2)
    .optional()
    .describe('Number of matching elements, if several; the first visible one is used, else the first'),
  used_match: z.enum(['first', 'first visible']).optional().describe('Which of several matching elements was used'),
  warning: z
    .string()
    .optional()
    .describe(
      'Why a command that succeeded may not have done what was meant, such as messages about a form that was not submitted',
    ),
  dialogs: z.array(commandDialog).optional().describe('Dialogs that opened during the command'),
  dialogs_omitted: z.int().optional().describe('Number of further dialogs'),
  data: z.record(z.string(), z.unknown()).optional(),
  downloads: z
    .array(commandDownload)
    .optional()
    .describe('Downloads that the command started; they are in GET /sessions/{session_id}/files'),
  skipped: z.boolean().optional(),
  error: z.string().optional(),
  code: z.string().optional(),
  hint: z.string().optional().describe('How to solve the failure'),
  details: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Details of a failure. delivered: whether the input of an action reached the page; outcome is "unknown" if it may have',
    ),
})

export const commandsResult = named('CommandsResult', {
  success: z.boolean(),
  session_id: z.string(),
  target_id: z.string().nullable().optional().describe('Tab of a relay session that the commands ran in'),
  steps_completed: z.int(),
  total_steps: z.int(),
  duration_ms: z.int(),
  results: z.array(commandResult),
  error: z.string().optional(),
  code: z.string().optional(),
  warning: z.string().optional(),
})

export type CommandResult = z.output<typeof commandResult>
export type CommandsResult = z.output<typeof commandsResult>

/** One validated command of a batch. */
export interface CommandCall {
  readonly command: string
  readonly data?: Record<string, unknown> | null
}

/** A validated batch, as passed to the engine. */
export interface CommandBatch {
  readonly commands: readonly CommandCall[]
  readonly session_id?: string
  readonly headless?: boolean
  readonly confirm?: readonly ActionKind[]
  readonly context?: Record<string, unknown>
  readonly continue_on_error?: boolean
  readonly strict?: boolean
  readonly timeout_ms?: number
}
