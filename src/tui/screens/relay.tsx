/** The browsers of users that are connected through the relay. */
import { useState } from 'react'
import { Box, Text } from 'ink'
import type { RelayRecord } from '../../core/shapes/relay.ts'
import { Confirm } from '../components/confirm.tsx'
import { type Column, Table } from '../components/table.tsx'
import { since } from '../format.ts'
import { useHouse, useTheme } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import { RelayView } from './relay-view.tsx'
import type { ScreenProps } from './screen-props.ts'

const every = 2000

export function Relay(props: ScreenProps) {
  const [open, setOpen] = useState<string | null>(null)
  if (open !== null) return <RelayView {...props} id={open} onClose={() => setOpen(null)} />
  return <RelayList {...props} onOpen={setOpen} />
}

function RelayList({ width, height, onOpen }: ScreenProps & { readonly onOpen: (id: string) => void }) {
  const { link } = useHouse()
  const theme = useTheme()
  const { answer, error, again } = useAsk('listRelays', {}, { every })
  const [stopping, setStopping] = useState<RelayRecord | null>(null)
  const attempt = useAttempt(again)
  const now = useNow(15_000)
  const rows = answer?.sessions ?? []
  const stop = ({ id }: RelayRecord) => attempt(() => link.ask('stopRelay', { id }))
  return (
    <Box flexDirection="column" width={width} height={height}>
      {stopping ? (
        <Confirm
          question={` Let go of ${stopping.name ?? stopping.id}?`}
          onYes={() => {
            setStopping(null)
            void stop(stopping)
          }}
          onNo={() => setStopping(null)}
        />
      ) : (
        <Text bold wrap="truncate" color={error && !answer ? theme.bad : undefined}>
          {error && !answer ? ` ${error.message}` : ` ${rows.length} connected browser${rows.length === 1 ? '' : 's'}`}
        </Text>
      )}
      <Table
        title="Browsers"
        rows={rows}
        keyOf={({ id }) => id}
        columns={columnsOf(theme, now)}
        width={width}
        height={height - 1}
        empty={answer ? 'none; `bax relay connect` on the machine of a browser brings it here' : 'asking …'}
        onOpen={({ id }) => onOpen(id)}
        actions={[{ keys: ['x'], does: 'let go', run: setStopping }]}
      />
    </Box>
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
  { head: 'SINCE', of: ({ connected_at }) => since(connected_at, now), width: 5, side: 'right' },
  { head: 'POLICY', of: ({ policy }) => policy, width: 10 },
  { head: 'PAGE', of: (relay) => pageOf(relay) },
]

function pageOf({ targets, active_target_id, browser }: RelayRecord): string {
  const active = targets.find(({ target_id }) => target_id === active_target_id)
  return active ? `${active.title} — ${active.url}` : (browser?.product ?? '')
}
