/** The inbox: a list of actions to approve and sessions to take over, and the view of one entry. */
import type { ApprovalRecord } from '../../core/access/approvals.ts'
import type { HandoffRecord } from '../../core/access/handoffs.ts'
import { ListPage, type ListProps, listScreen, type ViewProps } from '../components/list-page.tsx'
import { Pager } from '../components/pager.tsx'
import type { Column } from '../components/table.tsx'
import { useAppContext, useAttempt } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'

export const Inbox = listScreen(InboxList, ItemView)

/** Exactly one of both is set. */
type Item = { readonly approval: ApprovalRecord } | { readonly handoff: HandoffRecord }

/** Polls what waits, the oldest first. */
export function useInbox() {
  const approvals = usePolling('listApprovals', {}, { every: 2000 })
  const handoffs = usePolling('listHandoffs', {}, { every: 2000 })
  const items: Item[] = [
    ...(approvals.answer?.approvals ?? []).map((approval) => ({ approval })),
    ...(handoffs.answer?.handoffs ?? []).map((handoff) => ({ handoff })),
  ]
  return {
    items: items.toSorted((a, b) => recordOf(a).created_at.localeCompare(recordOf(b).created_at)),
    answer: approvals.answer && handoffs.answer,
    error: approvals.error ?? handoffs.error,
    refresh() {
      approvals.refresh()
      handoffs.refresh()
    },
  }
}

const recordOf = (item: Item) => ('approval' in item ? item.approval : item.handoff)

const sessionOf = (item: Item) => recordOf(item).session_name ?? recordOf(item).session_id

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

/** Returns the function that withdraws a handoff, and then calls `after`. */
function useWithdraw(after: () => void) {
  const { link, notify } = useAppContext()
  const attempt = useAttempt(after)
  return ({ session_id, handoff_id, reason }: HandoffRecord) =>
    attempt(async () => {
      await link.call('withdrawHandoff', { session_id, handoff_id })
      notify(`withdrawn: ${reason}`, 'bad')
    })
}

function InboxList({ width, height, onOpen }: ListProps<Item>) {
  const list = useInbox()
  const decide = useDecide(list.refresh)
  const withdraw = useWithdraw(list.refresh)
  return (
    <ListPage
      title="Inbox"
      list={list}
      summary={`${list.items.length} waiting; press Enter to read one and to act on it`}
      rows={list.items}
      keyOf={(item) => ('approval' in item ? item.approval.approval_id : item.handoff.handoff_id)}
      columns={columns}
      width={width}
      height={height}
      empty="nothing waits for a person"
      onOpen={onOpen}
      ending={{
        label: 'reject',
        question: (item) =>
          'approval' in item
            ? ` Reject ${item.approval.kind}: ${item.approval.summary}?`
            : ` Withdraw the handoff: ${item.handoff.reason}?`,
        run: (item) => void ('approval' in item ? decide(item.approval, false) : withdraw(item.handoff)),
      }}
    />
  )
}

const columns: Column<Item>[] = [
  { head: 'KIND', of: (item) => ('approval' in item ? item.approval.kind : 'handoff'), width: 10 },
  { head: 'SESSION', of: sessionOf, width: 20 },
  { head: 'BY', of: (item) => ('approval' in item ? (item.approval.command ?? '-') : item.handoff.status), width: 18 },
  { head: 'ACTION', of: (item) => ('approval' in item ? item.approval.summary : item.handoff.reason) },
]

function ItemView({ item, ...props }: ViewProps<Item>) {
  if ('approval' in item) return <ApprovalView item={item.approval} {...props} />
  return <HandoffView item={item.handoff} {...props} />
}

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

/** Shows what the person has to do, and where; it follows the handoff until its end. */
function HandoffView({ item, width, height, onClose }: ViewProps<HandoffRecord>) {
  const { session_id, handoff_id } = item
  const now = usePolling('getHandoff', { session_id, handoff_id }, { every: 2000 }).answer ?? item
  const withdraw = useWithdraw(onClose)
  const { status, control_url, until, expires_at, message, warning } = now
  const facts = [
    `session ${now.session_name ?? session_id}`,
    `status ${status}`,
    ...(until === null ? [] : [`ends with ${until}`]),
    `until ${expires_at}`,
    ...(message === null ? [] : [`answer ${message}`]),
    ...(warning === undefined ? [] : [`warning: ${warning}`]),
  ]
  const where = control_url === null ? openedText(now) : `Open this URL in your browser, once:\n${control_url}`
  return (
    <Pager
      title="Do this?"
      text={[...facts, '', now.reason, '', where].join('\n')}
      width={width}
      height={height}
      onClose={onClose}
      actions={now.ended_at === null ? [{ keys: ['x'], label: 'withdraw', run: () => void withdraw(now) }] : []}
    />
  )
}

const openedText = ({ ended_at, session_id }: HandoffRecord): string =>
  ended_at === null
    ? `Somebody has opened its URL. For another one: bax session view ${session_id} --control`
    : 'It has ended.'
