/** `bax approve`: lists the actions that wait for a person, and approves or rejects them. */
import { listedWords } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { ApprovalDecided, ApprovalList, ApprovalRecord } from '../../../core/access/approvals.ts'
import { approvalNotFound } from '../../../core/access/approval-not-found.ts'
import type { Context } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { runningEngine } from '../../engine/need.ts'
import { note, print } from '../../io.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

export const command: TerminalCommand = {
  cli: 'approve [id…]',
  summary: 'Approve or reject actions that wait',
  example: ['bax approve', 'bax approve apr_… --reject', 'bax approve --all'],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('[ids...]', 'actions to approve; without any, lists those that wait'))
      command.option('--reject', 'reject them: they are not executed')
      command.option('--all', 'approve or reject all actions that wait')
    })
    const ids = listedWords(typed.words, 0)
    const { all, reject } = typed.flags
    if (all && ids.length > 0)
      throw new BaxError('invalid_request', '--all and an ID exclude each other', { hint: 'give one of them' })
    if (reject && !all && ids.length === 0)
      throw new BaxError('invalid_request', '--reject needs an ID, or --all', {
        hint: 'run "bax approve" for the list',
      })
    return withEngine(context, runningEngine, async ({ ask }) => {
      const { signal } = context.io
      const list = await ask('listApprovals', {}, { signal })
      if (!all && ids.length === 0) return show(context, list)
      const chosen = all ? list.approvals : ids.map((id) => find(list.approvals, id))
      const operation = reject ? 'rejectAction' : 'approveAction'
      const decided: ApprovalDecided[] = []
      for (const { session_id, approval_id } of chosen)
        decided.push(await ask(operation, { session_id, approval_id }, { signal }))
      if (context.settings.json) print(context.io, JSON.stringify({ decided, total: decided.length }))
      else
        for (const { decision, kind, approval_id } of decided) note(context.io, `${decision}: ${kind} ${approval_id}`)
      return exits.done
    })
  },
}

/** Finds an action by its ID. @throws BaxError `approval_not_found` */
function find(approvals: readonly ApprovalRecord[], id: string): ApprovalRecord {
  const found = approvals.find(({ approval_id }) => approval_id === id)
  if (!found) throw approvalNotFound(id)
  return found
}

/** Prints what waits. Code keeps its lines: on one line, a comment would hide the rest. */
function show({ io, settings }: Context, list: ApprovalList): number {
  if (settings.json) print(io, JSON.stringify(list))
  else if (list.total === 0) note(io, 'nothing waits for approval')
  else for (const one of list.approvals) print(io, approvalText(one))
  return exits.done
}

function approvalText({ approval_id, kind, command, session_id, session_name, url, summary }: ApprovalRecord): string {
  const cause = command === null ? 'by the page itself' : `by ${command}`
  const head = `${approval_id}  ${kind} ${cause} in session ${session_name ?? session_id}${url ? `, on ${url}` : ''}`
  return [head, ...summary.split('\n').map((line) => `    ${line}`)].join('\n')
}
