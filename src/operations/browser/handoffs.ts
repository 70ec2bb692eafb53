/** Handoffs: a caller asks a person to do something in a session, such as a login or a captcha. */
import { z } from 'zod'
import { type HandoffList, handoffInput, handoffList, handoffRecord, handoffWait } from '../../core/access/handoffs.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { onSession } from '../../core/operation/placement.ts'
import { identifier } from '../../core/shapes/fields.ts'
import { samples } from '../samples.ts'
import { sessionId } from './sessions.ts'

const listed = (handoffs: HandoffList['handoffs']): HandoffList => ({ handoffs, total: handoffs.length })

export const requestHandoff = defineOperation({
  summary: 'Ask a person to take over a session',
  description:
    'Returns at once. The person opens `control_url`, takes control, and ends the handoff with Done or Cannot do this. ' +
    'Commands wait while they have control. Nothing that they type appears in events, recordings or results.',
  http: 'POST /sessions/{session_id}/handoffs',
  scope: 'browser',
  runs: onSession,
  cli: 'handoff',
  example: [
    "bax handoff --reason 'log in to the shop' --until 'url:**/account'",
    "bax handoff -s shop --reason 'solve the captcha' --timeout-secs 300 --json",
  ],
  show: { as: 'record' },
  sample: { ...samples.session, reason: 'log in to the shop', until: 'url:**/account' },
  input: z.object({ session_id: sessionId, ...handoffInput }),
  output: handoffRecord,
  errors: ['session_closed', 'unsupported', 'conflict', 'controlled_by_person', 'url_blocked'],
  run: (engine, input, call) => engine.handoffs.request(input, call),
})

const one = { session_id: sessionId, handoff_id: identifier.describe('Handoff id') }
const errors = ['session_closed', 'handoff_not_found'] as const

export const getHandoff = defineOperation({
  summary: 'Show a handoff',
  description: 'With `wait_secs` the response comes when it has ended, or after that time.',
  http: 'GET /sessions/{session_id}/handoffs/{handoff_id}',
  scope: 'browser',
  runs: onSession,
  sample: samples.handoff,
  input: z.object({ ...one, wait_secs: handoffWait }),
  output: handoffRecord,
  errors,
  run: (engine, { session_id, handoff_id, wait_secs }, call) =>
    engine.handoffs.get(session_id, handoff_id, wait_secs, call),
})

export const withdrawHandoff = defineOperation({
  summary: 'Withdraw a handoff',
  description: 'Its URL stops working, and a person who has control for it loses control.',
  http: 'DELETE /sessions/{session_id}/handoffs/{handoff_id}',
  scope: 'browser',
  runs: onSession,
  sample: samples.handoff,
  input: z.object(one),
  output: null,
  errors,
  run: (engine, { session_id, handoff_id }, call) => engine.handoffs.withdraw(session_id, handoff_id, call),
})

export const listHandoffs = defineOperation({
  summary: 'List handoffs that wait for a person',
  description: 'The open ones of all own sessions.',
  http: 'GET /handoffs',
  scope: 'browser',
  runs: { on: 'all', merge: (lists: readonly HandoffList[]) => listed(lists.flatMap(({ handoffs }) => handoffs)) },
  show: {
    as: 'table',
    items: 'handoffs',
    columns: ['handoff_id', 'status', 'session_id', 'reason', 'control_url', 'expires_at'],
  },
  input: z.object({}),
  output: handoffList,
  run: async (engine, _input, call) => listed(await engine.handoffs.list(call)),
})
