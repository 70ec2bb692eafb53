/** The list of browsers that are connected through the relay, and the view of one of them. */
import type { RelayRecord } from '../../core/shapes/relay.ts'
import { Confirm } from '../components/confirm.tsx'
import { ListPage, listScreen, useDialog } from '../components/list-page.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge } from '../format.ts'
import { useAttempt, useAppContext, useTheme } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import { RelayView } from './relay-view.tsx'
import type { ListProps } from './screen-props.ts'

const every = 2000

export const Relay = listScreen(RelayList, RelayView)

function RelayList({ width, height, onOpen }: ListProps<string>) {
  const { link } = useAppContext()
  const theme = useTheme()
  const list = usePolling('listRelays', {}, { every })
  const { dialog, open, close, closing } = useDialog<RelayRecord>()
  const attempt = useAttempt(list.refresh)
  const now = useNow(15_000)
  const rows = list.answer?.sessions ?? []
  const stop = ({ id }: RelayRecord) => attempt(() => link.call('stopRelay', { id }))
  return (
    <ListPage
      title="Browsers"
      list={list}
      summary={`${rows.length} connected browser${rows.length === 1 ? '' : 's'}`}
      dialog={
        dialog && (
          <Confirm
            question={` Disconnect ${dialog.name ?? dialog.id}?`}
            onYes={closing(() => stop(dialog))}
            onNo={close}
          />
        )
      }
      rows={rows}
      keyOf={({ id }) => id}
      columns={columnsOf(theme, now)}
      width={width}
      height={height}
      empty="no browsers; run `bax relay connect` on the machine of a browser to connect it"
      onOpen={({ id }) => onOpen(id)}
      actions={[{ keys: ['x'], label: 'disconnect', run: open }]}
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
