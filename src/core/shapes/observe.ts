/** Shapes of observations and steps (`spec: contract 5`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { full, pageChanges, pageTools } from './page-changes.ts'
import { type CommandBatch, commandResult, commandsResult } from './commands.ts'
import { dialogFacts } from './dialogs.ts'
import { flag, integer, listOf, named, selectorText } from './fields.ts'

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

/** Options of an observation, without the session. */
export const observationOptions = z.object({
  include: listOf(z.enum(observationParts))
    .default(['snapshot', 'elements', 'tabs'])
    .describe('Parts of the observation'),
  selector: selectorText.optional().describe('Element to limit snapshot, elements and text to'),
  interactive_only: z
    .boolean()
    .default(false)
    .meta({ short: 'i' })
    .describe('Only controls, headings and landmarks, with the text that distinguishes them'),
  limit: integer(1, limits.observe.maxElements)
    .default(limits.observe.elements)
    .describe('Maximum number of elements, those in the viewport first'),
  max_chars: integer(limits.observe.minChars, limits.observe.maxChars)
    .default(limits.observe.chars)
    .describe('Maximum length of each of snapshot, text and changes; whole lines are omitted, least relevant first'),
  full_page: flag('Capture the whole page instead of the viewport'),
})

/** Makes `POST /observe` and `/browser_step` report only changes. */
export const diff = flag("Report only changes since the session's last observation; the whole page when there is none")

const count = z.int().optional()

const omitted = z.object({
  texts: count,
  headings: count,
  links: count,
  controls: count,
  images: count,
  outside: count.describe(
    'Links and buttons beyond the edge of the page, where no scrolling reaches; the first are listed',
  ),
  options: count.describe('Options of native lists with more than ten'),
  elements: count.describe('Elements beyond limit'),
  characters: count.describe('Characters of text'),
})

const observedElement = z.object({
  ref: z.string().describe('Reference for selectors, as in ref=e12; stable as long as the element exists'),
  role: z.string(),
  name: z.string(),
  tag: z.string(),
  selector: z.string().describe('Short selector that also works after a reload'),
  text: z.string(),
  value: z.string().nullable().describe('null for elements without a value and for passwords'),
  href: z.string().nullable(),
  checked: z.boolean().nullable(),
  disabled: z.boolean(),
  visible: z.boolean(),
  in_viewport: z.boolean(),
  inert: z.literal(true).optional().describe('Not interactive: inert, or behind an open modal dialog'),
  box: z
    .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
    .describe('CSS pixels of the main viewport, also for elements in frames'),
})

export const observedTab = z.object({
  tab_id: z.string(),
  label: z.string().optional().describe('Label given by new_tab'),
  url: z.string(),
  title: z.string(),
  active: z.boolean(),
  crashed: z.literal(true).optional().describe('The page has crashed'),
})

const storageArea = z.record(z.string(), z.string()).nullable()

export const observation = named('Observation', {
  success: z.literal(true),
  session_id: z.string(),
  target_id: z.string().nullable().optional().describe('Observed tab of a relay session'),
  observation_id: z.string(),
  captured_at: z.iso.datetime(),
  url: z.string(),
  title: z.string(),
  ready_state: z.string(),
  viewport: z.object({ width: z.int(), height: z.int(), device_scale_factor: z.number() }),
  scroll: z.object({ x: z.number(), y: z.number(), max_x: z.number(), max_y: z.number() }),
  tabs: z.array(observedTab).optional(),
  snapshot: z.string().optional().describe('Accessibility tree as YAML; [ref=e12] identifies elements'),
  elements: z.array(observedElement).optional(),
  screenshot: z.string().optional().describe('PNG, base64'),
  text: z.string().optional().describe('Visible text of the page, as when selected and copied'),
  console: z
    .array(z.object({ level: z.string(), text: z.string(), url: z.string().optional(), line: z.int().optional() }))
    .optional()
    .describe('Latest messages, including uncaught errors'),
  network: z
    .array(
      z.object({
        method: z.string(),
        url: z.string(),
        resource_type: z.string(),
        status: z.int().nullable().describe('null while there is no response'),
        error: z.string().optional(),
      }),
    )
    .optional()
    .describe('Latest requests'),
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
        ...dialogFacts,
        open: z.boolean(),
        accepted: z.boolean().optional().describe('Whether it was accepted'),
      }),
    )
    .describe('Dialogs of the current document, newest last'),
  hidden_texts: count.describe('Number of texts that people cannot see, marked [hidden] in the snapshot; missing if 0'),
  page_tools: pageTools.optional().describe('Tools that the page offers; missing if none'),
  truncated: z.boolean().describe('Whether parts were omitted because of limit or max_chars'),
  omitted: omitted.describe('Omitted amounts by kind'),
  changes: pageChanges.optional().describe('Only with diff'),
  full: full.optional(),
})

export type ObservationOptions = z.output<typeof observationOptions>
export type ObserveRequest = ObservationOptions & { readonly session_id: string; readonly diff?: boolean }
export type ObservedElement = z.output<typeof observedElement>
export type ObservedTab = z.output<typeof observedTab>
export type Observation = z.output<typeof observation>
export type Omitted = z.output<typeof omitted>

const pageInfo = z.object({ url: z.string(), title: z.string() })

export const stepResult = commandsResult
  .extend({
    results: z.array(
      commandResult
        .extend({
          before: pageInfo.optional().describe('Absent for skipped commands'),
          after: pageInfo.optional(),
          events: z
            .array(z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) }))
            .optional()
            .describe('Dialogs, downloads, tabs, page errors and failed requests during the command'),
        })
        .meta({ id: 'StepCommandResult' }),
    ),
    observation: observation.optional(),
    screenshot: z.string().optional().describe('PNG, base64; if screenshot is set and no observation is made'),
    changes: pageChanges
      .extend({
        url_changed: z.boolean(),
        title_changed: z.boolean(),
        new_page: z.boolean().describe('Whether a new document was loaded; its texts are in the observation'),
      })
      .describe(
        'Differences between the page before the first and after the last command; with diff, since the last observation',
      ),
    full: full.optional(),
  })
  .meta({ id: 'StepResult' })

export type StepResult = z.output<typeof stepResult>

/** A validated step, as passed to the engine. */
export interface StepRequest extends CommandBatch {
  readonly settle_ms: number
  readonly observe: ObservationOptions | null
  readonly screenshot: boolean
  readonly diff?: boolean
  readonly brief?: boolean
}
