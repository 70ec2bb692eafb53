/** The list of browsers that are connected through the relay, and the view of one of them. */
import type { RelayRecord } from '../../core/shapes/relay.ts'
import { ListPage, type ListProps, listScreen } from '../components/list-page.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge } from '../format.ts'
import { useAttempt, useAppContext } from '../hooks/app-context.ts'
import { useNow, usePolling } from '../hooks/use-polling.ts'
import type { Theme } from '../theme.ts'
import { RelayView } from './relay-view.tsx'

export const Relay = listScreen(RelayList, RelayView)

function RelayList({ width, height, onOpen }: ListProps<string>) {
  const { link, theme } = useAppContext()
  const list = usePolling('listRelays', {}, { every: 2000 })
  const attempt = useAttempt(list.refresh)
  const now = useNow(15_000)
  const rows = list.answer?.sessions ?? []
  return (
    <ListPage
      title="Browsers"
      list={list}
      summary={`${rows.length} connected browser${rows.length === 1 ? '' : 's'}`}
      rows={rows}
      keyOf={({ id }) => id}
      columns={columnsOf(theme, now)}
      width={width}
      height={height}
      empty="no browsers; run `bax relay connect` on the machine of a browser to connect it"
      onOpen={({ id }) => onOpen(id)}
      ending={{
        label: 'disconnect',
        question: ({ name, id }) => ` Disconnect ${name ?? id}?`,
        run: ({ id }) => attempt(() => link.call('stopRelay', { id })),
      }}
    />
  )
}

const columnsOf = (theme: Theme, now: number): Column<RelayRecord>[] => [
  { head: 'BROWSER', of: ({ name, id }) => name ?? id, width: 20 },
  {
    head: 'STATE',
    of: ({ status }) => status,
    width: 12,
    colour: ({ status }) => (status === 'connected' ? theme.good : theme.bad),
  },
  { head: 'TABS', of: ({ targets }) => String(targets.length), width: 4, side: 'right' },
  { head: 'SINCE', of: ({ connected_at }) => formatAge(connected_at, now), width: 5, side: 'right' },
  { head: 'POLICY', of: ({ policy }) => policy, width: 10 },
  { head: 'PAGE', of: (relay) => pageOf(relay) },
]

function pageOf({ targets, active_target_id, browser }: RelayRecord): string {
  const active = targets.find(({ target_id }) => target_id === active_target_id)
  return active ? `${active.title} — ${active.url}` : (browser?.product ?? '')
}
