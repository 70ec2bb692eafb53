/**
 * Actions that wait for a person. No tool of MCP uses these operations, and none may: an agent must not approve what it
 * does itself. Its client may, when a person has answered in a dialog of the client.
 */
import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { onSession } from '../../core/operation/placement.ts'
import { approvalDecided, type ApprovalList, approvalList } from '../../core/access/approvals.ts'
import { identifier } from '../../core/shapes/fields.ts'
import { sessionId } from './sessions.ts'
import { samples } from '../samples.ts'

const listed = (approvals: ApprovalList['approvals']): ApprovalList => ({ approvals, total: approvals.length })

export const listApprovals = defineOperation({
  summary: 'List actions that wait for approval',
  description: 'Those of all own sessions that were created with `confirm`, oldest first in each session.',
  http: 'GET /approvals',
  scope: 'browser',
  runs: { on: 'all', merge: (lists: readonly ApprovalList[]) => listed(lists.flatMap(({ approvals }) => approvals)) },
  show: {
    as: 'table',
    items: 'approvals',
    columns: ['approval_id', 'kind', 'session_id', 'command', 'summary', 'expires_at'],
  },
  input: z.object({}),
  output: approvalList,
  run: async (engine, _input, call) => listed(await engine.approvals.list(call)),
})

const input = z.object({ session_id: sessionId, approval_id: identifier.describe('Approval id, as listed') })
const errors = ['session_closed', 'approval_not_found'] as const

export const approveAction = defineOperation({
  summary: 'Approve an action that waits',
  description: 'The action is executed. In the terminal: `bax approve ID`.',
  http: 'POST /sessions/{session_id}/approvals/{approval_id}/approve',
  scope: 'browser',
  runs: onSession,
  sample: samples.approval,
  input,
  output: approvalDecided,
  errors,
  run: (engine, { session_id, approval_id }, call) => engine.approvals.decide(session_id, approval_id, true, call),
})

export const rejectAction = defineOperation({
  summary: 'Reject an action that waits',
  description:
    'The action is not executed: its command fails with `rejected`. In the terminal: `bax approve ID --reject`.',
  http: 'POST /sessions/{session_id}/approvals/{approval_id}/reject',
  scope: 'browser',
  runs: onSession,
  sample: samples.approval,
  input,
  output: approvalDecided,
  errors,
  run: (engine, { session_id, approval_id }, call) => engine.approvals.decide(session_id, approval_id, false, call),
})
