/** Shapes of actions that wait for the approval of a person. */
import { z } from 'zod'
import { BaxError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { batchContext } from '../shapes/commands.ts'
import { duration, listOf, named } from '../shapes/fields.ts'

/** Kinds of actions that can wait for a person. */
const actionKinds = {
  eval: 'code of the caller in the page (evaluate, init scripts, conditions, answers of routes, data: and blob: URLs), and every raw CDP call',
  download: 'a file that a page downloads, before it is stored among the files of the session',
  submit:
    'a form sent with POST, any other navigation with a body, and `POST /request` with other methods than GET and HEAD, before the request is sent',
  credential: 'every command that uses a stored credential, before the page gets a value',
  tool: 'a call of a tool of the page; with any kind, those that the page marks as consequential wait',
} as const

export type ActionKind = keyof typeof actionKinds

export const kindNames = Object.keys(actionKinds) as [ActionKind, ...ActionKind[]]

/** Fields of a new session. */
export const confirmFields = {
  confirm: listOf(z.enum(kindNames))
    .min(1)
    .optional()
    .describe(
      `Actions that wait until a person approves them: ${kindNames.map((kind) => `${kind} (${actionKinds[kind]})`).join('; ')}`,
    ),
  confirm_timeout_secs: duration(1, limits.approvals.maxTimeoutSecs)
    .default(limits.approvals.timeoutSecs)
    .describe('Time that such an action waits before it fails with confirmation_timeout, in seconds'),
}

const isoTime = z.iso.datetime().describe('ISO 8601 UTC with milliseconds')

const action = {
  approval_id: z.string(),
  kind: z.enum(kindNames),
  command: z.string().nullable().describe('Command that caused it, or start_url; null if the page acted on its own'),
  summary: z
    .string()
    .describe(
      `Expression, method, URL, tool with its arguments, or name of a credential; at most ${limits.approvals.summaryChars} characters`,
    ),
  url: z.string().describe('URL of the page that is asked about'),
}

const approvalRecord = named('Approval', {
  ...action,
  session_id: z.string(),
  session_name: z.string().nullable(),
  context: batchContext.optional().describe('Context of the batch that caused it, if it has one'),
  created_at: isoTime,
  expires_at: isoTime,
})

export const approvalList = z.object({ approvals: z.array(approvalRecord), total: z.int() })

/** Outcome of an action that has waited. */
const outcomes = ['approved', 'rejected', 'expired', 'cancelled'] as const

export const approvalDecided = named('ApprovalDecided', {
  ...action,
  session_id: z.string(),
  decision: z.enum(outcomes),
})

/** Events of a session about such actions. */
export const approvalEvents = {
  'approval.requested': z
    .object({ ...action, expires_at: isoTime })
    .describe('An action waits for a person: `bax approve`'),
  'approval.decided': z.object({ ...action, decision: z.enum(outcomes) }).describe('Only `approved` is executed'),
}

export type ApprovalRecord = z.output<typeof approvalRecord>
export type ApprovalList = z.output<typeof approvalList>
export type ApprovalDecided = z.output<typeof approvalDecided>

/** Checks that a session holds the actions that a request wants to wait. @throws BaxError `conflict` */
export function assertConfirms(held: readonly string[] = [], requested: readonly ActionKind[] = []): void {
  const missing = requested.filter((kind) => !held.includes(kind))
  if (missing.length === 0) return
  throw new BaxError('conflict', `the session was created without confirm ${missing.join(', ')}`, {
    hint: 'create a new session with it, or leave it out',
    details: [{ path: 'confirm', message: 'differs from the existing session' }],
  })
}
