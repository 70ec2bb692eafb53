/** Users' own browsers: connected browsers, their events, and tokens for connecting them (`spec: relay`). */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { newestFirst } from '../../core/newest-first.ts'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { inGateway, onRelay } from '../../core/operation/placement.ts'
import {
  relayEvent,
  relayEventFields,
  relayEventPage,
  relayEventsInput,
  relayId,
  relayRecord,
  relayTokenRecord,
} from '../../core/shapes/relay.ts'
import { displayName, flag, identifier, duration } from '../../core/shapes/fields.ts'
import { samples } from '../samples.ts'

export const listRelays = defineOperation({
  summary: 'List browsers connected through the relay',
  http: 'GET /relay/sessions',
  scope: 'relay',
  runs: {
    on: 'all',
    merge: (lists) => ({
      sessions: lists
        .flatMap(({ sessions }) => sessions)
        .toSorted(newestFirst)
        .toReversed(),
    }),
  },
  cli: 'relay list',
  example: ['bax relay list', 'bax relay list --json'],
  show: { as: 'table', items: 'sessions', columns: ['id', 'name', 'status', 'policy', 'active_target_id'] },
  input: z.object({}),
  output: z.object({ sessions: z.array(relayRecord) }),
  run: async (engine, _input, call) => ({ sessions: await engine.relays.list(call) }),
})

export const getRelay = defineOperation({
  summary: 'Show a relay browser and its tabs',
  http: 'GET /relay/sessions/{id}',
  scope: 'relay',
  runs: onRelay,
  cli: 'relay show <id>',
  example: ['bax relay show laptop', 'bax relay show rly_… --json'],
  show: { as: 'record' },
  sample: samples.relay,
  input: z.object({ id: relayId }),
  output: relayRecord,
  run: (engine, { id }, call) => engine.relays.get(id, call),
})

export const stopRelay = defineOperation({
  summary: 'Disconnect a relay browser without closing it',
  http: 'DELETE /relay/sessions/{id}',
  scope: 'relay',
  runs: onRelay,
  cli: 'relay stop <id>',
  example: ['bax relay stop laptop', 'bax relay stop rly_…'],
  show: { as: 'nothing' },
  sample: samples.relay,
  input: z.object({ id: relayId }),
  output: null,
  run: (engine, { id }, call) => engine.relays.stop(id, call),
})

export const activateTarget = defineOperation({
  summary: 'Activate a tab of a relay browser',
  description: 'Brings the tab to the front; subsequent commands and CDP calls use it.',
  http: 'POST /relay/sessions/{id}/activate',
  scope: 'relay',
  runs: onRelay,
  cli: 'relay use <id> <target_id>',
  example: ['bax relay use laptop 5C1A…', 'bax relay use rly_… 5C1A…'],
  show: { as: 'nothing' },
  sample: { ...samples.relay, target_id: '5C1AF2D07B3E' },
  input: z.object({ id: relayId, target_id: identifier.describe('Tab ID as listed by `bax relay tabs`') }),
  output: null,
  errors: ['target_not_found', 'relay_disconnected', 'browser_lost'],
  run: (engine, { id, target_id }, call) => engine.relays.activate(id, target_id, call),
})

export const readRelayEvents = defineOperation({
  summary: 'Read the buffered events of a browser',
  description:
    'Console, network, page and raw CDP events. `since` and `next` page through them without a gap; `gap` reports records ' +
    'that are no longer buffered, `dropped` those that were never stored. `format=har` returns an HTTP archive of the ' +
    'network events, `format=ndjson` one record per line; `Accept: text/event-stream` follows.',
  http: 'GET /relay/sessions/{id}/events',
  scope: 'relay',
  runs: onRelay,
  // No command of its own: `bax relay events` reads, follows and writes archives.
  sample: { ...samples.relay, kind: ['network'], limit: 100 },
  input: relayEventsInput,
  output: z.union([relayEventPage, z.object({ log: z.record(z.string(), z.unknown()) })]),
  lines: (page, { format }) => (format === 'ndjson' && 'events' in page ? page.events : undefined),
  run: (engine, { id, ...query }, call) => engine.relays.readEvents(id, query, call),
})

export const clearRelayEvents = defineOperation({
  summary: 'Delete the buffered events of a browser',
  description: 'Sequence numbers are not reset.',
  http: 'DELETE /relay/sessions/{id}/events',
  scope: 'relay',
  runs: onRelay,
  show: { as: 'nothing' },
  sample: samples.relay,
  input: z.object({ id: relayId }),
  output: null,
  run: (engine, { id }, call) => engine.relays.clearEvents(id, call),
})

export const createRelayToken = defineOperation({
  summary: 'Create a token for connecting a browser',
  description: 'The token is shown only once.',
  http: 'POST /relay/tokens',
  scope: 'relay',
  runs: inGateway,
  cli: 'relay tokens create',
  example: [
    'bax relay tokens create --name laptop --single-use',
    'bax relay tokens create --name office --ttl-secs 3600',
  ],
  show: { as: 'field', field: 'token' },
  sample: { name: 'laptop', ttl_secs: 3600, single_use: true },
  input: z.object({
    name: displayName.optional().describe('Name of the token in the list'),
    ttl_secs: duration(1, limits.relay.maxTokenSecs).default(limits.relay.tokenSecs).describe('Lifetime in seconds'),
    single_use: flag('Valid for a single browser, which may reconnect with it'),
  }),
  output: z.object({ token: z.string(), token_id: z.string(), expires_at: z.iso.datetime() }),
  run: (engine, input, call) => engine.relays.tokens.create(input, call),
})

export const listRelayTokens = defineOperation({
  summary: 'List relay tokens without their secrets',
  http: 'GET /relay/tokens',
  scope: 'relay',
  runs: inGateway,
  cli: 'relay tokens list',
  example: ['bax relay tokens list', 'bax relay tokens list --json'],
  show: { as: 'table', items: 'tokens', columns: ['token_id', 'name', 'single_use', 'expires_at', 'last_used_at'] },
  input: z.object({}),
  output: z.object({ tokens: z.array(relayTokenRecord) }),
  run: async (engine, _input, call) => ({ tokens: await engine.relays.tokens.list(call) }),
})

export const revokeRelayToken = defineOperation({
  summary: 'Revoke a relay token and disconnect its browsers',
  http: 'DELETE /relay/tokens/{token_id}',
  scope: 'relay',
  runs: inGateway,
  cli: 'relay tokens revoke <token_id>',
  example: 'bax relay tokens revoke rtk_…',
  show: { as: 'nothing' },
  sample: { token_id: 'rtk_Lz4xDq9oMv7wCs1B' },
  input: z.object({ token_id: identifier }),
  output: null,
  errors: ['token_not_found'],
  run: (engine, { token_id }, call) => engine.relays.tokens.revoke(token_id, call),
})

export const followRelayEvents = defineStream({
  summary: 'Follow the events of a browser',
  description:
    '`Last-Event-ID` or `since` resumes without a gap; lost records are reported by an event `dropped` of kind `relay`.',
  http: 'GET /relay/sessions/{id}/events',
  scope: 'relay',
  runs: onRelay,
  sample: { ...samples.relay, kind: ['console', 'network'] },
  input: z.object(relayEventFields),
  frame: relayEvent,
  open: (engine, { id, ...query }, call) => engine.relays.followEvents(id, query, call),
})
