/** Shapes of relay sessions, their tokens and their buffered events (`spec: relay 3, 4 and 6`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { identifier, duration, integer, listOf, named, opaqueText } from './fields.ts'
import { collectedKinds, relayPolicies } from '../relay-names.ts'

const time = z.iso.datetime()

export const relayTarget = named('RelayTarget', {
  target_id: z.string(),
  type: z.string().describe('page; frames and workers are addressed by their id'),
  url: z.string(),
  title: z.string(),
  active: z.boolean().describe('Default target of commands and /cdp'),
  responsive: z.boolean().describe('false: a script hangs, or the page has crashed'),
  crashed: z.literal(true).optional().describe('The page has crashed'),
})

export const relayRecord = named('RelaySession', {
  id: z.string(),
  name: z.string().nullable(),
  status: z.enum(['connected', 'reconnecting', 'browser_lost', 'closed']),
  created_at: time,
  connected_at: time.describe('Start of the current or last connection'),
  last_seen_at: time,
  disconnect_reason: z.enum(['network', 'replaced', 'browser_closed', 'token_revoked', 'stopped']).nullable(),
  resume_deadline: time.nullable().describe('Time by which the connector must reconnect, or the session ends'),
  reconnects: z.int(),
  browser: z
    .object({ product: z.string(), protocol_version: z.string(), user_agent: z.string(), headless: z.boolean() })
    .nullable(),
  connector: z.object({
    version: z.string(),
    platform: z.string(),
    transport: z.enum(['ws', 'local']),
    rtt_ms: z.number().nullable(),
  }),
  policy: z.enum(relayPolicies),
  active_target_id: z.string().nullable(),
  targets: z.array(relayTarget),
  clients: z.array(z.object({ kind: z.enum(['collector', 'cdp', 'commands', 'ws']), since: time })),
  events: z.object({
    count: z.int(),
    bytes: z.int(),
    first_seq: z.int(),
    last_seq: z.int(),
    dropped: z.record(z.string(), z.int()),
  }),
  cdp_url: z
    .string()
    .nullable()
    .describe("For Playwright's connectOverCDP and Puppeteer's connect; null if this engine serves none"),
})

export const relayTokenRecord = named('RelayToken', {
  token_id: z.string(),
  name: z.string().nullable(),
  single_use: z.boolean(),
  created_at: time,
  expires_at: time,
  last_used_at: time.nullable(),
})

export type RelayRecord = z.output<typeof relayRecord>
export type RelayTokenRecord = z.output<typeof relayTokenRecord>

/** Kinds of buffered events; `relay` events describe the relay itself. */
const relayEventKinds = [...collectedKinds, 'cdp', 'relay'] as const

export const relayEvent = named('RelayEvent', {
  seq: z.int().describe('From 1, increased by one per stored record, never reused; continues after a reconnect'),
  ts: z.number().describe("Unix time in milliseconds, by the browser's clock"),
  received_at: z.iso.datetime().describe('Time at which the engine received it'),
  kind: z.enum(relayEventKinds),
  type: z.string().describe('log, exception, entry; request, response, …; or the method of a raw CDP event'),
  target_id: z.string().optional(),
  frame_id: z.string().optional(),
  data: z.record(z.string(), z.unknown()),
  truncated: z.literal(true).optional().describe('Set when data was truncated to keep the record below 32 KiB'),
})

const dropped = z
  .object({ total: z.int(), console: z.int(), network: z.int(), page: z.int(), cdp: z.int() })
  .describe('Records lost before they reached the buffer')

export const relayEventPage = named('RelayEventPage', {
  events: z.array(relayEvent),
  next: z.int().describe('Value of `since` for the next request'),
  more: z.boolean().describe('Whether more than `limit` records match'),
  first_seq: z.int().describe('Oldest buffered record; last_seq + 1 when the buffer is empty'),
  last_seq: z.int(),
  gap: z
    .object({ from: z.int(), to: z.int(), count: z.int() })
    .nullable()
    .describe('Records after `since` that are no longer buffered'),
  dropped,
  epoch: z.string().describe('Changes when the sequence numbers restart'),
})

export type RelayEvent = z.output<typeof relayEvent>
export type RelayEventKind = RelayEvent['kind']
export type RelayEventPage = z.output<typeof relayEventPage>
export type RelayDropped = z.output<typeof dropped>

export const relayId = identifier.describe('Relay session, by id or name')

/** Filters for buffered events, shared by reading and following them. */
export const relayEventFields = {
  id: relayId,
  since: z.int().min(0).optional().describe('Sequence number after which to start'),
  kind: listOf(z.enum(relayEventKinds)).optional().describe('console, network, page, cdp, relay'),
  type: listOf(identifier).optional().describe('log, exception, request, response, … or a CDP event'),
  target_id: opaqueText.optional().describe('Tab, frame or worker of the events'),
  level: z
    .string()
    .max(limits.input.nameChars)
    .optional()
    .describe('Level of console records: debug, log, info, warn or error'),
  url: z.string().max(limits.input.labelChars).optional().describe('Glob for the URL of the record'),
  text: z.string().max(limits.input.labelChars).optional().describe('Text that the record contains, case-insensitive'),
}

export const relayEventsInput = z.object({
  ...relayEventFields,
  limit: integer(1, limits.relay.maxPageEvents)
    .default(limits.relay.pageEvents)
    .describe('Maximum number of records per response'),
  order: z.enum(['asc', 'desc']).default('asc').describe('Oldest or newest first'),
  wait_ms: duration(0, limits.relay.waitMs)
    .default(0)
    .describe('Maximum time to wait for the first matching record, in milliseconds'),
  format: z.enum(['json', 'ndjson', 'har']).default('json'),
})

/** Filter for the buffered events of a relay session. */
export type RelayEventQuery = Omit<z.output<z.ZodObject<typeof relayEventFields>>, 'id'>
export type RelayEventsRequest = Omit<z.output<typeof relayEventsInput>, 'id'>

export const cdpInput = z.object({
  session_id: identifier.describe('Relay session or browser session, by id or name'),
  method: z
    .string()
    .max(limits.input.nameChars, { abort: true })
    .regex(/^[A-Z]\w*\.\w+$/, 'must be a CDP method such as Page.captureScreenshot')
    .describe('Protocol method as Domain.method'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Parameters of the method'),
  target_id: identifier.optional().describe('Page, frame or worker; `browser` for the browser itself'),
  timeout_ms: duration(1, limits.relay.maxCallMs).default(limits.relay.callMs),
  max_bytes: integer(1, limits.relay.maxResultBytes).default(limits.relay.resultBytes),
})

export type CdpRequest = z.output<typeof cdpInput>

export const cdpAnswer = named('CdpAnswer', {
  success: z.boolean(),
  session_id: z.string(),
  method: z.string(),
  result: z.record(z.string(), z.unknown()).optional().describe('Result of the method'),
  target_id: z.string().nullable().describe('null for the browser itself'),
  duration_ms: z.int(),
  error: z.string().optional(),
  code: z.string().optional(),
  cdp: z.object({ code: z.int(), message: z.string() }).optional().describe('Original protocol error'),
})

export type CdpAnswer = z.output<typeof cdpAnswer>
