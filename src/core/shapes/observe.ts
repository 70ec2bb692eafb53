/** Data shapes of observations (`spec: contract 5`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { full, pageChanges } from './page-changes.ts'
import { type CommandBatch, commandResult, commandsResult } from './commands.ts'
import { selectorText } from './text.ts'

const observationParts = [
  'snapshot',
  'elements',
  'screenshot',
  'text',
  'tabs',
  'console',
  'network',
  'storage',
] as const

/** What to look at, without the session. */
export const observationWishes = z.object({
  include: z
    .array(z.enum(observationParts))
    .max(limits.input.names)
    .default(['snapshot', 'elements', 'tabs'])
    .describe('Parts of the observation'),
  selector: selectorText.optional().describe('Only this element and what is in it, for snapshot, elements and text'),
  interactive_only: z
    .boolean()
    .default(false)
    .meta({ short: 'i' })
    .describe('Only controls, headings and landmarks, with the text that tells them apart'),
  limit: z
    .int()
    .min(1)
    .max(limits.observe.maxElements)
    .default(limits.observe.elements)
    .describe('Elements at most, those in view first'),
  max_chars: z
    .int()
    .min(limits.observe.minChars)
    .max(limits.observe.maxChars)
    .default(limits.observe.chars)
    .describe('Length of snapshot, of text and of changes at most; whole lines are left out, least relevant first'),
  full_page: z.boolean().default(false).describe('The screenshot shows the whole page instead of the viewport'),
})

/** `POST /observe` and `/browser_step` with it report changes only. */
export const diff = z
  .boolean()
  .default(false)
  .describe("Report only the changes since the session's last observation; all of the page when there is none")

const count = z.int().optional()

const omitted = z.object({
  texts: count,
  headings: count,
  links: count,
  controls: count,
  images: count,
  options: count.describe('Of native lists with more than ten'),
  elements: count.describe('Of the list of elements, because of limit'),
  characters: count.describe('Of text'),
})

const observedElement = z.object({
  ref: z.string().describe('Use it as selector: ref=e12; it is the same for as long as the element lives'),
  role: z.string(),
  name: z.string(),
  tag: z.string(),
  selector: z.string().describe('Short selector that works after a reload, too'),
  text: z.string(),
  value: z.string().nullable().describe('null for what has none, and for passwords'),
  href: z.string().nullable(),
  checked: z.boolean().nullable(),
  disabled: z.boolean(),
  visible: z.boolean(),
  in_viewport: z.boolean(),
  inert: z.literal(true).optional().describe('Out of reach: behind an open modal dialog, or inert'),
  box: z
    .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
    .describe('CSS pixels of the viewport, frames included'),
})

const observedTab = z.object({
  tab_id: z.string(),
  url: z.string(),
  title: z.string(),
  active: z.boolean(),
  crashed: z.literal(true).optional().describe('Its page has crashed'),
})

const storageArea = z.record(z.string(), z.string()).nullable()

export const observation = z
  .object({
    success: z.literal(true),
    session_id: z.string(),
    target_id: z.string().nullable().optional().describe('Tab of a relay session that was observed'),
    observation_id: z.string(),
    captured_at: z.iso.datetime(),
    url: z.string(),
    title: z.string(),
    ready_state: z.string(),
    viewport: z.object({ width: z.int(), height: z.int(), device_scale_factor: z.number() }),
    scroll: z.object({ x: z.number(), y: z.number(), max_x: z.number(), max_y: z.number() }),
    tabs: z.array(observedTab).optional(),
    snapshot: z.string().optional().describe('Accessibility tree as YAML; [ref=e12] names elements'),
    elements: z.array(observedElement).optional(),
    screenshot: z.string().optional().describe('PNG, base64'),
    text: z.string().optional().describe('What the page says, as one would select and copy it'),
    console: z
      .array(z.object({ level: z.string(), text: z.string(), url: z.string().optional(), line: z.int().optional() }))
      .optional()
      .describe('Last messages, uncaught errors included'),
    network: z
      .array(
        z.object({
          method: z.string(),
          url: z.string(),
          resource_type: z.string(),
          status: z.int().nullable().describe('null while there is no answer'),
          error: z.string().optional(),
        }),
      )
      .optional()
      .describe('Last requests'),
    storage: z
      .object({
        cookies: z.array(z.record(z.string(), z.unknown())),
        local_storage: storageArea,
        session_storage: storageArea,
      })
      .optional()
      .describe('null for a page without an origin'),
    dialogs: z
      .array(
        z.object({
          kind: z.string(),
          message: z.string(),
          open: z.boolean(),
          accepted: z.boolean().optional().describe('How it was answered'),
        }),
      )
      .describe('Dialogs of this document, newest last'),
    truncated: z.boolean().describe('Something was left out because of limit or max_chars'),
    omitted: omitted.describe('How much was left out, by kind'),
    changes: pageChanges.optional().describe('With diff'),
    full: full.optional(),
  })
  .meta({ id: 'Observation' })

export type ObservationWishes = z.output<typeof observationWishes>
export type ObserveRequest = ObservationWishes & { readonly session_id: string; readonly diff?: boolean }
export type ObservedElement = z.output<typeof observedElement>
export type ObservedTab = z.output<typeof observedTab>
export type Observation = z.output<typeof observation>
export type Omitted = z.output<typeof omitted>

const place = z.object({ url: z.string(), title: z.string() })

export const stepResult = commandsResult
  .extend({
    results: z.array(
      commandResult
        .extend({
          before: place.optional().describe('Left out for skipped commands'),
          after: place.optional(),
          events: z
            .array(z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) }))
            .optional()
            .describe('Dialogs, downloads, tabs, errors of the page and failed requests during it'),
        })
        .meta({ id: 'StepCommandResult' }),
    ),
    observation: observation.optional(),
    screenshot: z.string().optional().describe('PNG, base64; with screenshot and without an observation'),
    changes: pageChanges
      .extend({
        url_changed: z.boolean(),
        title_changed: z.boolean(),
        new_page: z.boolean().describe('The document is another one: its texts are in the observation'),
      })
      .describe(
        'The page before the first command against the page after the last; with diff since the last observation',
      ),
    full: full.optional(),
  })
  .meta({ id: 'StepResult' })

export type StepResult = z.output<typeof stepResult>

/** A validated step, as the engine takes it. */
export interface StepRequest extends CommandBatch {
  readonly settle_ms: number
  readonly observe: ObservationWishes | null
  readonly screenshot: boolean
  readonly diff?: boolean
}
