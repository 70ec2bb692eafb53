import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { relayRecord } from '../../core/shapes/relay.ts'
import { sessionCreated, sessionInput, sessionRecord } from '../../core/shapes/session.ts'
import { identifier, listOf } from '../../core/shapes/fields.ts'

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
