/** Data shapes of the differences between two observations (`spec: contract 12`). */
import { z } from 'zod'

const texts = z.array(z.string())

/** Why a diff gives the whole page. */
export const full = z
  .enum(['no_earlier_observation', 'new_page', 'mostly_new', 'other_part', 'too_large'])
  .describe('Why the observation is of the whole page though diff was set')

const control = { ref: z.string().nullable(), role: z.string(), name: z.string() }

/** Differences between two observations. */
export const pageChanges = z
  .object({
    url: z.string().nullable().describe('The new one; null when it is the same'),
    title: z.string().nullable().describe('The new one; null when it is the same'),
    texts: z
      .object({
        added: texts,
        removed: texts,
        replaced: z
          .array(z.tuple([z.string(), z.string()]))
          .describe('Old and new; a long text only around the change'),
        where: z
          .object({ added: texts, removed: texts, replaced: texts })
          .optional()
          .describe('Where on the page each of them is'),
      })
      .nullable()
      .describe('null when the page was not observed'),
    values: z
      .array(z.object({ ...control, from: z.string(), to: z.string() }))
      .describe('Of fields; never of passwords'),
    states: z.array(
      z.object({ ...control, state: z.string().describe('checked, disabled, expanded, …'), on: z.boolean() }),
    ),
    controls: z
      .object({ added: texts, removed: texts })
      .optional()
      .describe('New and removed controls, as in a snapshot'),
    dialogs: z.array(
      z.object({
        kind: z.string().describe('alert, confirm, prompt, beforeunload; dialog for one of the page itself'),
        message: z.string(),
        open: z.boolean(),
        accepted: z.boolean().optional(),
      }),
    ),
    alerts: z
      .array(
        z.object({
          role: z.string(),
          text: z.string(),
          gone: z.boolean().describe('It was shown and has disappeared again'),
        }),
      )
      .describe('Alerts, status messages and toasts'),
    focus: z.object(control).nullable().describe('What has the focus now; null when it did not move'),
    scroll: z
      .object({ x: z.number(), y: z.number() })
      .nullable()
      .describe('The new position; null when it is the same'),
    downloads: z.array(
      z.object({
        filename: z.string(),
        success: z.boolean().nullable().describe('null while it is running'),
        bytes: z.int().optional(),
        error: z.string().optional(),
      }),
    ),
    file_choosers: z.array(z.object({ tab_id: z.string().optional(), multiple: z.boolean() })),
    tabs_opened: z.array(z.object({ tab_id: z.string(), url: z.string() })),
    tabs_closed: z.array(z.object({ tab_id: z.string() })),
    elements_added: z.int().nullable().describe('Controls that were not there before; null without an observation'),
    elements_removed: z.int().nullable(),
    omitted: z.record(z.string(), z.int()).optional().describe('How much of it max_chars left out, by kind'),
  })
  .meta({ id: 'PageChanges' })

export type PageChanges = z.output<typeof pageChanges>
export type FullReason = z.output<typeof full>
