/** Browser sessions, their events and diagnostics, and live views. */
import { z } from 'zod'
import { defineOperation, defineStream } from '../../core/operation/operation.ts'
import { relayRecord } from '../../core/shapes/relay.ts'
import { sessionCreated, sessionInput, sessionRecord } from '../../core/shapes/session.ts'
import { flag, identifier, listOf, opaqueText } from '../../core/shapes/fields.ts'
import { eventData, sessionEvent, sessionLog, traceAction, traceState } from '../../core/shapes/events.ts'
import { liveViewLink } from '../../core/shapes/live-view.ts'
import { tokenOf } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

/** Path or body field that identifies a session. */
export const sessionId = identifier.describe('Session id, or the name of a live session')

export const createSession = defineOperation({
  summary: 'Create a browser session',
  description: 'Returns 200 `ready` if a browser slot is free, else 202 `provisioning` with a provision_id to poll.',
  http: 'POST /sessions',
  scope: 'browser',
  cli: 'session create',
  example: 'bax session create --start-url https://example.com',
  show: { as: 'field', field: 'session_id' },
  engine: 'start',
  input: sessionInput,
  output: sessionCreated,
  idempotent: true,
  status: ({ status }) => (status === 'provisioning' ? 202 : 200),
  statuses: [200, 202],
  errors: ['profile_not_found', 'conflict', 'url_blocked', 'browser_not_found', 'no_capacity'],
  run: (engine, input, call) => engine.sessions.create(input, call),
})

export const listSessions = defineOperation({
  summary: 'List browser sessions',
  http: 'GET /sessions',
  scope: 'browser',
  cli: 'session list',
  example: 'bax session list --json',
  show: { as: 'table', items: 'sessions', columns: ['session_id', 'name', 'status', 'tabs', 'url', 'title'] },
  input: z.object({
    status: z
      .enum(['provisioning', 'ready', 'stopped', 'failed', 'all'])
      .optional()
      .describe('State of the sessions to list; all includes ended ones that are still remembered'),
    include: listOf(z.enum(['relay']))
      .optional()
      .describe('relay: include relay sessions'),
  }),
  output: z.object({
    sessions: z.array(sessionRecord),
    total: z.int(),
    relay_sessions: z.array(relayRecord).optional().describe('Only with include=relay'),
  }),
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
  cli: 'session show <session_id>',
  example: 'bax session show shop',
  show: { as: 'record' },
  input: z.object({ session_id: sessionId }),
  output: sessionRecord,
  errors: ['session_not_found'],
  run: (engine, { session_id }, call) => engine.sessions.get(session_id, call),
})

export const closeSession = defineOperation({
  summary: 'Close a browser session',
  http: 'DELETE /sessions/{session_id}',
  scope: 'browser',
  cli: 'session close <session_id>',
  example: 'bax session close shop',
  input: z.object({ session_id: sessionId }),
  output: null,
  errors: ['session_not_found'],
  run: (engine, { session_id }, call) => engine.sessions.close(session_id, call),
})

export const getSessionLog = defineOperation({
  summary: 'Show the event log of a session',
  description:
    'The last 1000 events: console, network, navigation, commands. `GET /stream/sse` follows them as they happen.',
  http: 'GET /diagnostics/{session_id}/log',
  scope: 'browser',
  cli: 'session log <session_id>',
  example: 'bax session log shop',
  show: { as: 'table', items: 'events', columns: ['ts', 'type', 'data'] },
  input: z.object({ session_id: sessionId }),
  output: sessionLog,
  errors: ['session_not_found', 'session_closed'],
  run: (engine, { session_id }, call) => engine.diagnostics.log(session_id, call),
})

export const traceSession = defineOperation({
  summary: 'Record a Playwright trace of a session',
  description:
    'start begins recording, stop ends it and returns a zip for `npx playwright show-trace`, discard ends it without one.',
  http: 'POST /diagnostics/{session_id}/trace',
  scope: 'browser',
  // No command: the response may be megabytes of base64, which only programs can use.
  input: z.object({ session_id: sessionId, action: traceAction.describe('start, stop or discard') }),
  output: traceState,
  errors: ['session_not_found', 'session_closed', 'conflict'],
  run: (engine, { session_id, action }, call) => engine.diagnostics.trace(session_id, action, call),
})

export const linkLiveView = defineOperation({
  summary: 'Create a live view URL of a session',
  description:
    'Anyone with the URL can watch the session; with control they can also use mouse, keyboard, paste and dialogs, for a ' +
    'login or a captcha. Commands wait while a person has control.',
  http: 'POST /live_view/{session_id}',
  scope: 'browser',
  cli: 'session view',
  example: 'bax session view -s shop --control',
  show: { as: 'field', field: 'live_view_url' },
  input: z.object({
    session_id: sessionId,
    control: flag('Allow anyone with the URL to control the session'),
  }),
  output: liveViewLink,
  errors: ['session_not_found', 'session_closed', 'unsupported', 'rate_limited'],
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
  token: true,
  cli: 'session watch',
  example: 'bax session watch -s shop --types page.navigated,console',
  input: z.object({
    session_id: sessionId,
    token: opaqueText.optional().describe('frame_token of the session; may also be sent as `Authorization: Bearer`'),
    since: z.int().min(0).optional().describe('Number of the last received event, after which to continue'),
    replay: z.enum(['all']).optional().describe('all: start with all buffered events'),
    types: listOf(z.string().max(limits.input.nameChars))
      .optional()
      .describe('Event types to send, all except frame when omitted; frame sends screenshots of the page'),
  }),
  frame: sessionEvent,
  errors: ['session_not_found', 'unauthorized'],
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
