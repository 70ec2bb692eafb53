/** Browser sessions, their events and diagnostics, and live views. */
import { z } from 'zod'
import { newestFirst } from '../../core/newest-first.ts'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { onAnySession, onSession } from '../../core/operation/placement.ts'
import { graceSecs, leaseFrame } from '../../core/access/lease.ts'
import { relayRecord } from '../../core/shapes/relay.ts'
import { sessionCreated, sessionInput, sessionRecord } from '../../core/shapes/session.ts'
import { flag, identifier, listOf, opaqueText } from '../../core/shapes/fields.ts'
import { eventData, sessionEvent, sessionLog, traceAction, traceState } from '../../core/shapes/events.ts'
import { liveViewLink } from '../../core/shapes/live-view.ts'
import { tokenOf } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { samples } from '../samples.ts'

/** Path or body field that identifies a session. */
export const sessionId = identifier.describe('Session id, or the name of a live session')

/** Codes of operations on a page that is lost, or whose browser fails, before they end. */
export const pageFailures = ['page_crashed', 'target_closed', 'navigation_aborted', 'action_failed'] as const

export const createSession = defineOperation({
  summary: 'Create a browser session',
  description: 'Returns 200 `ready` if a browser slot is free, else 202 `provisioning` with a provision_id to poll.',
  http: 'POST /sessions',
  scope: 'browser',
  runs: { on: 'new', slot: 'session', name: 'requested_name' },
  cli: 'session create [start_url]',
  example: [
    'bax session create https://example.com',
    'bax session create --name shop --use',
    'bax session create --viewport 390x844 --locale de-DE --timezone Europe/Berlin',
  ],
  show: { as: 'field', field: 'session_id' },
  engine: 'start',
  sample: { start_url: 'https://example.com', viewport: { width: 1280, height: 720 } },
  input: sessionInput,
  output: sessionCreated,
  idempotent: true,
  status: ({ status }) => (status === 'provisioning' ? 202 : 200),
  statuses: [200, 202],
  errors: ['profile_not_found', 'url_blocked', 'browser_not_found', 'browser_failed'],
  run: (engine, input, call) => engine.sessions.create(input, call),
})

const sessionList = z.object({
  sessions: z.array(sessionRecord),
  total: z.int(),
  relay_sessions: z.array(relayRecord).optional().describe('Only with include=relay'),
})

export type SessionList = z.output<typeof sessionList>

/** Joins the lists of several workers. */
function joinSessions(lists: readonly SessionList[]): SessionList {
  const sessions = lists.flatMap((list) => list.sessions).toSorted(newestFirst)
  const relays = lists.flatMap((list) => list.relay_sessions ?? []).toSorted(newestFirst)
  const listed = { sessions, total: sessions.length }
  return lists.some((list) => list.relay_sessions) ? { ...listed, relay_sessions: relays.toReversed() } : listed
}

export const listSessions = defineOperation({
  summary: 'List browser sessions',
  http: 'GET /sessions',
  scope: 'browser',
  runs: { on: 'all', merge: joinSessions },
  cli: 'session list',
  example: ['bax session list', 'bax session list --status all --json'],
  show: { as: 'table', items: 'sessions', columns: ['session_id', 'name', 'status', 'tabs', 'url', 'title'] },
  sample: { status: 'ready' },
  input: z.object({
    status: z
      .enum(['provisioning', 'ready', 'stopped', 'failed', 'all'])
      .optional()
      .describe('State of the sessions to list; all includes ended ones that are still remembered'),
    include: listOf(z.enum(['relay']))
      .optional()
      .describe('relay: include relay sessions'),
  }),
  output: sessionList,
  run: async (engine, { status, include }, call) => {
    const sessions = await engine.sessions.list({ ...(status && { status }) }, call)
    const listed = { sessions, total: sessions.length }
    return include?.includes('relay') ? { ...listed, relay_sessions: await engine.relays.list(call) } : listed
  },
})

export const getSession = defineOperation({
  summary: 'Show one browser session',
  http: 'GET /sessions/{session_id}',
  scope: 'browser',
  runs: onSession,
  cli: 'session show [session_id]',
  example: ['bax session show', 'bax session show shop --json'],
  show: { as: 'record' },
  sample: samples.session,
  input: z.object({ session_id: sessionId }),
  output: sessionRecord,
  run: (engine, { session_id }, call) => engine.sessions.get(session_id, call),
})

export const closeSession = defineOperation({
  summary: 'Close a browser session',
  http: 'DELETE /sessions/{session_id}',
  scope: 'browser',
  runs: onAnySession,
  cli: 'session close [session_id]',
  example: ['bax session close', 'bax session close shop', 'bax session close --all'],
  sample: samples.session,
  input: z.object({ session_id: sessionId }),
  output: null,
  run: (engine, { session_id }, call) => engine.sessions.close(session_id, call),
})

const closedSessions = z.object({
  sessions: z.array(sessionRecord).describe('Closed sessions, newest first'),
  total: z.int().describe('Number of closed sessions'),
  provisions: z.array(z.object({ provision_id: z.string() })).describe('Cancelled provisions'),
  cancelled: z.int().describe('Number of cancelled provisions'),
})

type ClosedSessions = z.output<typeof closedSessions>

const closedOf = (sessions: ClosedSessions['sessions'], provisions: ClosedSessions['provisions']): ClosedSessions => ({
  sessions,
  total: sessions.length,
  provisions,
  cancelled: provisions.length,
})

/** Joins what several workers and the gateway have closed. */
const joinClosed = (all: readonly ClosedSessions[]): ClosedSessions =>
  closedOf(
    all.flatMap(({ sessions }) => sessions).toSorted(newestFirst),
    all.flatMap(({ provisions }) => provisions),
  )

export const closeSessions = defineOperation({
  summary: 'Close all own browser sessions',
  description:
    'Closes the live sessions that the same key created, also for admins, and returns them. Sessions that wait for a ' +
    'browser or a worker are cancelled. In the terminal: `bax session close --all`.',
  http: 'DELETE /sessions',
  scope: 'browser',
  runs: { on: 'all', own: true, merge: joinClosed },
  show: {
    as: 'table',
    items: 'sessions',
    columns: ['session_id', 'name', 'url'],
    also: [{ items: 'provisions', columns: ['provision_id'] }],
  },
  input: z.object({}),
  output: closedSessions,
  run: async (engine, _input, call) => {
    const { sessions, provisions } = await engine.sessions.closeOwn(call)
    return closedOf(
      sessions,
      provisions.map((provision_id) => ({ provision_id })),
    )
  },
})

export const getSessionLog = defineOperation({
  summary: 'Show the event log of a session',
  description:
    'The last 1000 events: console, network, navigation, commands. `GET /stream/sse` follows them as they happen.',
  http: 'GET /diagnostics/{session_id}/log',
  scope: 'browser',
  runs: onSession,
  cli: 'session log [session_id]',
  example: ['bax session log', 'bax session log shop --json > log.json'],
  show: { as: 'table', items: 'events', columns: ['ts', 'type', 'data'] },
  sample: samples.session,
  input: z.object({ session_id: sessionId }),
  output: sessionLog,
  errors: ['session_closed'],
  run: (engine, { session_id }, call) => engine.diagnostics.log(session_id, call),
})

export const traceSession = defineOperation({
  summary: 'Record a Playwright trace of a session',
  description:
    'start begins recording, stop ends it and returns a zip for `npx playwright show-trace`, discard ends it without one.',
  http: 'POST /diagnostics/{session_id}/trace',
  scope: 'browser',
  runs: onSession,
  // No command: the response may be megabytes of base64, which only programs can use.
  sample: { ...samples.session, action: 'start' },
  input: z.object({ session_id: sessionId, action: traceAction.describe('start, stop or discard') }),
  output: traceState,
  errors: ['session_closed', 'conflict', ...pageFailures],
  run: (engine, { session_id, action }, call) => engine.diagnostics.trace(session_id, action, call),
})

export const linkLiveView = defineOperation({
  summary: 'Create a live view URL of a session',
  description:
    'Anyone with the URL can watch the session; with control they can also use mouse, keyboard, paste and dialogs, for a ' +
    'login or a captcha. Commands wait while a person has control.',
  http: 'POST /live_view/{session_id}',
  scope: 'browser',
  runs: onSession,
  cli: 'session view [session_id]',
  example: ['bax session view', 'bax session view shop --control'],
  show: { as: 'field', field: 'live_view_url' },
  sample: { ...samples.session, control: true },
  input: z.object({
    session_id: sessionId,
    control: flag('Allow anyone with the URL to control the session'),
  }),
  output: liveViewLink,
  errors: ['session_closed', 'unsupported'],
  run: (engine, { session_id, control }, call) => engine.sessions.linkLiveView(session_id, control, call),
})

const known = Object.keys(eventData)

export const sessionEvents = defineStream({
  summary: 'Follow the events of a session',
  description:
    'Server-sent events (or NDJSON with `Accept: application/x-ndjson`). `Last-Event-ID` or `since` resumes without a gap ' +
    'from the last 1000 events; `lagged` reports the number of lost ones. lagged and session.closed are sent regardless ' +
    'of `types`. The stream ends after session.closed; the response is 204 for an ended session.',
  http: 'GET /stream/sse',
  scope: 'browser',
  runs: onSession,
  token: true,
  cli: 'session watch [session_id]',
  example: [
    'bax session watch',
    'bax session watch shop --types page.navigated,console',
    'bax session watch shop --ndjson > events.ndjson',
  ],
  sample: { ...samples.session, types: ['page.navigated', 'console'] },
  input: z.object({
    session_id: sessionId,
    token: opaqueText.optional().describe('frame_token of the session; may also be sent as `Authorization: Bearer`'),
    since: z.int().min(0).optional().describe('Number of the last received event, after which to continue'),
    replay: z.enum(['all']).optional().describe('all: start with all buffered events'),
    types: listOf(z.string().max(limits.input.nameChars))
      .optional()
      .describe('Event types to send, all except frame when omitted; frame sends screenshots of the page'),
    hold: flag('Suspend the idle timeout of the session until the stream ends'),
  }),
  frame: sessionEvent,
  mayHaveEnded: true,
  open: (engine, input, call) => {
    const unknown = input.types?.filter((type) => !known.includes(type)) ?? []
    if (unknown.length > 0) {
      const message = `types contains unknown ${unknown.map((type) => JSON.stringify(type)).join(', ')}; known types are ${known.join(', ')}`
      throw new BaxError('invalid_request', message, { details: [{ path: 'types', message: 'unknown event type' }] })
    }
    // After a reconnect, Last-Event-ID takes precedence: the URL still has the original parameters.
    const since = call.since ?? input.since ?? (input.replay === 'all' ? 0 : undefined)
    const token = tokenOf(input.token, call) ?? undefined
    return engine.sessions.follow({ ...input, since, token }, call)
  },
})

export const leaseSession = defineStream({
  summary: 'Keep a session until the stream ends',
  description: 'Closes the session when the last such stream of it has ended, for clients that may be killed.',
  http: 'GET /sessions/{session_id}/lease',
  scope: 'browser',
  runs: onSession,
  sample: { ...samples.session, grace_secs: 600 },
  input: z.object({ session_id: sessionId, grace_secs: graceSecs }),
  frame: leaseFrame,
  errors: ['session_closed'],
  open: (engine, { session_id, grace_secs }, call) => engine.sessions.lease(session_id, grace_secs, call),
})
