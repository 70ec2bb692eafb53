/** Data of every event of a session (`spec: contract 6`). */
import { z } from 'zod'

const tab = z.string().describe('The tab, as in observations')
const url = z.string().describe('At most 2000 characters; passwords and tokens are taken out')
const request = {
  request_id: z.string().describe('The same for a request, its response and its failure'),
  tab_id: tab.optional(),
  method: z.string(),
  url,
  resource_type: z.string().describe('document, script, stylesheet, image, xhr, fetch, …'),
}
const command = { command: z.string(), index: z.int().describe('Place in its batch') }
const dialog = {
  tab_id: tab.optional(),
  kind: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']),
  message: z.string(),
}
const download = { tab_id: tab.optional(), filename: z.string(), url }

/** By type: what `data` holds. */
export const eventData = {
  'session.status': z.object({ status: z.enum(['ready', 'stopped', 'failed']) }),
  'session.expiring': z.object({
    reason: z.enum(['idle_timeout', 'lifetime']).describe('Activity puts off the first'),
    expires_in_ms: z.int(),
  }),
  'session.closed': z.object({
    reason: z.enum(['deleted', 'idle_timeout', 'lifetime', 'worker_lost', 'crashed', 'engine_closed']),
  }),
  'command.started': z.object({
    ...command,
    context: z.record(z.string(), z.unknown()).optional().describe('As the request gave it'),
  }),
  'command.finished': z.object({
    ...command,
    success: z.boolean(),
    duration_ms: z.int(),
    error: z.string().optional(),
    code: z.string().optional(),
  }),
  'page.navigated': z.object({ tab_id: tab, url }).describe('Navigations inside a document included'),
  'page.loaded': z.object({ tab_id: tab, url }),
  'page.error': z.object({
    tab_id: tab.optional(),
    message: z.string().describe('An uncaught error, or a crash'),
    crashed: z.literal(true).optional().describe('The page crashed; the next command on its tab fails and reloads it'),
  }),
  console: z.object({
    tab_id: tab.optional(),
    level: z.string().describe('log, info, warning, error, debug, …'),
    text: z.string().describe('At most 10 000 characters'),
    url: url.optional(),
    line: z.int().optional(),
  }),
  'network.request': z.object(request),
  'network.response': z.object({ ...request, status: z.int(), content_type: z.string().optional() }),
  'network.failed': z.object({
    ...request,
    error: z.string(),
    reason: z
      .literal('blocked')
      .optional()
      .describe('Set when a rule of this engine or browser has blocked the request'),
    code: z.literal('url_blocked').optional().describe('Set together with reason'),
  }),
  'dialog.opened': z.object({ ...dialog, default_value: z.string().optional() }),
  'dialog.closed': z.object({ ...dialog, accepted: z.boolean() }),
  'file_chooser.opened': z
    .object({ tab_id: tab.optional(), multiple: z.boolean().describe('Several files can be chosen') })
    .describe('The page asks for files; type_text gives them to the file field'),
  'download.started': z.object(download),
  'download.finished': z.object({
    ...download,
    success: z.boolean(),
    path: z.string().optional(),
    bytes: z.int().optional(),
    error: z.string().optional(),
  }),
  'tab.opened': z.object({ tab_id: tab, url, tabs: z.int().describe('How many there are now') }),
  'tab.closed': z.object({ tab_id: tab, tabs: z.int().describe('How many are left') }),
  'tab.recovered': z
    .object({
      tab_id: tab,
      url,
      reloaded: z.boolean().describe('False: the tab is empty, and `url` is what it showed'),
    })
    .describe('A tab whose page had crashed can be used again'),
  'provision.stage': z
    .object({ stage: z.string(), at: z.iso.datetime() })
    .describe('How a session that had to wait came to be'),
  'control.taken': z.object({}).describe('A person drives the session from its live view: commands wait'),
  'control.waiting': z
    .object({
      commands: z.array(z.string()).describe('What waits; empty for an observation'),
      timeout_ms: z.int().describe('How long it waits before it fails with controlled_by_person'),
    })
    .describe('Commands wait because a person drives the session'),
  'control.returned': z.object({ reason: z.enum(['returned', 'left', 'idle']) }).describe('Commands go on'),
  lagged: z.object({ dropped: z.int() }).describe('So many events before this one are gone'),
  error: z.object({ code: z.string(), message: z.string() }).describe('Something of ours failed beside the commands'),
  frame: z
    .object({
      tab_id: tab,
      data: z.string().describe('JPEG, base64'),
      width: z.number().describe('CSS pixels'),
      height: z.number(),
    })
    .describe('The active tab as it looks; only when types names it, never replayed'),
} as const

export type EventType = keyof typeof eventData

const member = <Type extends EventType>(type: Type) =>
  z.object({
    seq: z.int().describe('From 1 in each session; pictures repeat the number of the event before them'),
    ts: z.iso.datetime(),
    type: z.literal(type),
    data: eventData[type],
  })

/** One event as it is sent. */
export const sessionEvent = z
  .discriminatedUnion('type', Object.keys(eventData).map((type) => member(type as EventType)) as never)
  .meta({ id: 'SessionEvent' })
