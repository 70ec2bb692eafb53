import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { sessionLog, traceAction, traceState } from '../../core/shapes/diagnostics.ts'
import { sessionId } from './sessions.ts'

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
