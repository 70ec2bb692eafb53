/** Actions that wait for a person: their list, and the view of one of them, where it is approved or rejected. */
import type { ApprovalRecord } from '../../core/access/approvals.ts'
import { ListPage, type ListProps, listScreen, type ViewProps } from '../components/list-page.tsx'
import { Pager } from '../components/pager.tsx'
import type { Column } from '../components/table.tsx'
import { useAppContext, useAttempt } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'

export const Approvals = listScreen(ApprovalList, ApprovalView)

/** Polls the actions that wait. */
export const useApprovals = () => usePolling('listApprovals', {}, { every: 2000 })

/** Returns the function that approves or rejects an action, and then calls `after`. */
function useDecide(after: () => void) {
  const { link, notify } = useAppContext()
  const attempt = useAttempt(after)
  return ({ session_id, approval_id, kind }: ApprovalRecord, approve: boolean) =>
    attempt(async () => {
      const { decision } = await link.call(approve ? 'approveAction' : 'rejectAction', { session_id, approval_id })
      notify(`${decision}: ${kind}`, approve ? 'good' : 'bad')
    })
}

function ApprovalList({ width, height, onOpen }: ListProps<ApprovalRecord>) {
  const list = useApprovals()
  const decide = useDecide(list.refresh)
  const rows = list.answer?.approvals ?? []
  return (
    <ListPage
      title="Approvals"
      list={list}
      summary={`${rows.length} waiting; press Enter to read one and to approve it`}
      rows={rows}
      keyOf={({ approval_id }) => approval_id}
      columns={columns}
      width={width}
      height={height}
      empty="nothing waits for approval"
      onOpen={onOpen}
      ending={{
        label: 'reject',
        question: ({ kind, summary }) => ` Reject ${kind}: ${summary}?`,
        run: (row) => void decide(row, false),
      }}
    />
  )
}

const columns: Column<ApprovalRecord>[] = [
  { head: 'KIND', of: ({ kind }) => kind, width: 10 },
  { head: 'SESSION', of: ({ session_name, session_id }) => session_name ?? session_id, width: 20 },
  { head: 'COMMAND', of: ({ command }) => command ?? '-', width: 18 },
  { head: 'ACTION', of: ({ summary }) => summary },
]

/** Shows the whole action: a person has to read it before they approve it. */
function ApprovalView({ item, width, height, onClose }: ViewProps<ApprovalRecord>) {
  const decide = useDecide(onClose)
  const { kind, command, session_name, session_id, url, summary, expires_at } = item
  const facts = [
    `${kind}${command === null ? ', by the page itself' : `, by ${command}`}`,
    `session ${session_name ?? session_id}`,
    `page ${url || '-'}`,
    `until ${expires_at}`,
  ]
  return (
    <Pager
      title="Approve this?"
      text={[...facts, '', summary].join('\n')}
      width={width}
      height={height}
      onClose={onClose}
      actions={[
        { keys: ['a'], label: 'approve', run: () => void decide(item, true) },
        { keys: ['x'], label: 'reject', run: () => void decide(item, false) },
      ]}
    />
  )
}
