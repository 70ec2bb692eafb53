/** Shapes of session events and diagnostic data (`spec: contract 6`). */
import { z } from 'zod'
import { approvalEvents } from '../access/approvals.ts'
import { handoffEvents } from '../access/handoffs.ts'
import { credentialKinds } from '../access/credentials.ts'
import { eventOf, named } from './fields.ts'
import { answeredBy, dialogFacts, dialogTypes } from './dialogs.ts'
import { recordedStep } from './recording.ts'
import { sessionEventTypes } from '../events/events.ts'

const tab = z.string().describe('Tab ID, as in observations')
const url = z.string().describe('At most 2000 characters; passwords and tokens are redacted')
const request = {
  request_id: z.string().describe('Shared by a request, its response and its failure'),
  tab_id: tab.optional(),
  method: z.string(),
  url,
  resource_type: z.string().describe('document, script, stylesheet, image, xhr, fetch, …'),
}
const command = { command: z.string(), index: z.int().describe('Position in its batch') }
const dialog = {
  tab_id: tab.optional(),
  ...dialogFacts,
  type: z.enum(dialogTypes),
}
const download = { tab_id: tab.optional(), filename: z.string(), url }

/** Shape of `data` by event type. */
export const eventData = {
  'session.status': z.object({ status: z.enum(['ready', 'stopped', 'failed']) }),
  'session.expiring': z.object({
    reason: z.enum(['idle_timeout', 'lifetime']).describe('Activity extends idle_timeout'),
    expires_in_ms: z.int(),
  }),
  'session.closed': z.object({
    reason: z.enum(['deleted', 'idle_timeout', 'lifetime', 'worker_lost', 'crashed', 'engine_closed']),
  }),
  'command.started': z.object({
    ...command,
    context: z.record(z.string(), z.unknown()).optional().describe('Context as given in the request'),
  }),
  'command.finished': z.object({
    ...command,
    success: z.boolean(),
    duration_ms: z.int(),
    direct: z
      .literal(true)
      .optional()
      .describe('The command worked on its element without Playwright, which takes longer'),
    error: z.string().optional(),
    code: z.string().optional(),
  }),
  'page.navigated': z.object({ tab_id: tab, url }).describe('Includes navigations within a document'),
  'page.loaded': z.object({ tab_id: tab, url }),
  'page.error': z.object({
    tab_id: tab.optional(),
    message: z.string().describe('Message of an uncaught error or a crash'),
    crashed: z.literal(true).optional().describe('The page crashed; the next command on its tab fails and reloads it'),
  }),
  console: z.object({
    tab_id: tab.optional(),
    level: z.string().describe('log, info, warning, error, debug, …'),
    text: z.string().describe('At most 10 000 characters'),
    url: url.optional(),
    line: z.int().optional(),
  }),
  'network.request': z.object({
    ...request,
    redirected_from: z.string().optional().describe('ID of the request whose response redirected to this one'),
  }),
  'network.response': z.object({ ...request, status: z.int(), content_type: z.string().optional() }),
  'network.failed': z.object({
    ...request,
    error: z.string(),
    reason: z.literal('blocked').optional().describe('Set when a rule of the engine or browser blocked the request'),
    code: z.literal('url_blocked').optional().describe('Set together with reason'),
  }),
  'network.blocked': z
    .object({ host: z.string(), port: z.int() })
    .describe('A connection to a host outside the allowed domains of the session was blocked'),
  'dialog.opened': z.object({ ...dialog, default_value: z.string().optional() }),
  'dialog.closed': z.object({ ...dialog, accepted: z.boolean(), answered_by: answeredBy }),
  'file_chooser.opened': z
    .object({ tab_id: tab.optional(), multiple: z.boolean().describe('Whether several files can be selected') })
    .describe('The page requests files; use type_text on the file input to provide them'),
  'download.started': z.object(download),
  'download.finished': z.object({
    ...download,
    success: z.boolean(),
    path: z.string().optional(),
    bytes: z.int().optional(),
    error: z.string().optional(),
  }),
  'tab.opened': z.object({ tab_id: tab, url, tabs: z.int().describe('Number of open tabs') }),
  'tab.activated': z.object({ tab_id: tab, url }).describe('Commands use this tab from now on'),
  'tab.closed': z.object({ tab_id: tab, tabs: z.int().describe('Number of remaining tabs') }),
  'tab.recovered': z
    .object({
      tab_id: tab,
      url,
      reloaded: z.boolean().describe('false: the tab is empty, and `url` is its previous URL'),
    })
    .describe('A crashed tab is usable again'),
  'provision.stage': z
    .object({ stage: z.string(), at: z.iso.datetime() })
    .describe('Progress of creating a session that had to wait'),
  'recording.step': z
    .object({ index: z.int().describe('Position among the steps, from 0'), ...recordedStep.shape })
    .describe('A step was recorded; replaces an earlier one with the same index'),
  ...approvalEvents,
  ...handoffEvents,
  'credential.used': z.object({
    credential: z.string(),
    part: z.enum(credentialKinds),
    success: z.boolean().describe('Whether the value was written into a field'),
    origin: z.string().optional().describe('Origin of the frame that got it'),
    rp_id: z.string().optional().describe('RP ID of the passkey that was used'),
  }),
  'credential.registered': z
    .object({
      credential: z.string(),
      rp_id: z.string(),
      success: z.boolean().describe('Whether it was stored'),
      error: z.string().optional().describe('Why it was not stored'),
    })
    .describe('A page has created a passkey'),
  'credential.blocked': z
    .object({ url })
    .describe('A navigation that carried a password of a credential to another origin was blocked'),
  'control.taken': z.object({}).describe('A person controls the session from its live view; commands wait'),
  'control.waiting': z
    .object({
      commands: z.array(z.string()).describe('Names of the waiting commands; empty for an observation'),
      timeout_ms: z.int().describe('How long they wait before they fail with controlled_by_person'),
    })
    .describe('Commands wait because a person controls the session'),
  'control.returned': z.object({ reason: z.enum(['returned', 'left', 'idle']) }).describe('Commands continue'),
  lagged: z.object({ dropped: z.int() }).describe('Number of lost events before this one'),
  error: z.object({ code: z.string(), message: z.string() }).describe('An internal error outside of commands'),
  frame: z
    .object({
      tab_id: tab,
      data: z.string().describe('JPEG, base64'),
      width: z.number().describe('CSS pixels'),
      height: z.number(),
    })
    .describe('Screenshot of the active tab; sent only when requested with types, never replayed'),
} as const

/** One event as it is sent. */
export const sessionEvent = eventOf(
  eventData,
  'From 1 in each session; frames repeat the number of the preceding event',
).meta({ id: 'SessionEvent' })

export const sessionLog = named('SessionLog', {
  session_id: z.string(),
  events: z
    .array(
      z.object({
        seq: z.int(),
        ts: z.iso.datetime(),
        type: z.enum(sessionEventTypes),
        data: z.record(z.string(), z.unknown()),
      }),
    )
    .describe('Buffered events, oldest first: console, network, navigation, commands'),
  dropped: z.int().describe('Number of older events that were discarded'),
})

export const traceAction = z.enum(['start', 'stop', 'discard'])

export const traceState = named('TraceState', {
  session_id: z.string(),
  tracing: z.boolean(),
  trace: z.string().optional().describe('Playwright trace as a zip file in base64; only after stop'),
  truncated: z.string().optional().describe('Why it ended before it was stopped'),
})

export type SessionLog = z.output<typeof sessionLog>
export type TraceAction = z.output<typeof traceAction>
export type TraceState = z.output<typeof traceState>
