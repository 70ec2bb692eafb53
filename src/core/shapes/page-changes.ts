/** Shapes of differences between two observations (`spec: contract 12`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { dialogFacts } from './dialogs.ts'
import { named } from './fields.ts'

const texts = z.array(z.string())

/** Reason for returning the whole page despite diff. */
export const full = z
  .enum(['no_earlier_observation', 'new_page', 'mostly_new', 'other_part', 'too_large'])
  .describe('Reason why the observation covers the whole page although diff is set')

const control = { ref: z.string().nullable(), role: z.string(), name: z.string() }

/** Tools that a page offers. */
export const pageTools = z.object({
  names: texts.describe(`Names for call_page_tool, at most ${limits.pageTools.observed}`),
  total: z.int(),
})

/** Differences between two observations. */
export const pageChanges = named('PageChanges', {
  url: z.string().nullable().describe('New URL; null when unchanged'),
  title: z.string().nullable().describe('New title; null when unchanged'),
  texts: z
    .object({
      added: texts,
      removed: texts,
      replaced: z
        .array(z.tuple([z.string(), z.string()]))
        .describe('Old and new text; of long texts only the surroundings of the change'),
      where: z
        .object({ added: texts, removed: texts, replaced: texts })
        .optional()
        .describe('Location on the page of each of them'),
    })
    .nullable()
    .describe('null when the page was not observed'),
  values: z
    .array(z.object({ ...control, from: z.string(), to: z.string() }))
    .describe('Changed values of form fields, except passwords'),
  states: z.array(
    z.object({ ...control, state: z.string().describe('checked, disabled, expanded, …'), on: z.boolean() }),
  ),
  controls: z
    .object({ added: texts, removed: texts })
    .optional()
    .describe('New and removed controls, as in a snapshot'),
  dialogs: z.array(
    z.object({
      ...dialogFacts,
      open: z.boolean(),
      accepted: z.boolean().optional(),
    }),
  ),
  alerts: z
    .array(
      z.object({
        role: z
          .string()
          .describe('ARIA role, toast, or validation for a message of the browser about an invalid field'),
        text: z.string(),
        gone: z.boolean().describe('Whether it has already disappeared'),
      }),
    )
    .describe('Alerts, status messages and toasts'),
  page_tools: pageTools.optional().describe('Tools that the page offers now, if they have changed'),
  focus: z.object(control).nullable().describe('Focused element; null when unchanged'),
  scroll: z.object({ x: z.number(), y: z.number() }).nullable().describe('New position; null when unchanged'),
  downloads: z.array(
    z.object({
      filename: z.string(),
      success: z.boolean().nullable().describe('null while in progress'),
      bytes: z.int().optional(),
      error: z.string().optional(),
    }),
  ),
  file_choosers: z.array(z.object({ tab_id: z.string().optional(), multiple: z.boolean() })),
  tabs_opened: z.array(z.object({ tab_id: z.string(), url: z.string() })),
  tabs_closed: z.array(z.object({ tab_id: z.string() })),
  elements_added: z.int().nullable().describe('Number of new controls; null without an observation'),
  elements_removed: z.int().nullable(),
  omitted: z.record(z.string(), z.int()).optional().describe('Amounts omitted because of max_chars, by kind'),
})

export type PageChanges = z.output<typeof pageChanges>
export type FullReason = z.output<typeof full>
