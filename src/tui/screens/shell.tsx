/** The shell sessions of the engine, and from there into one of them. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import type { ShellSession } from '../../core/shapes/shell/session.ts'
import { Confirm } from '../components/confirm.tsx'
import { Prompt } from '../components/prompt.tsx'
import { type Column, Table } from '../components/table.tsx'
import { since } from '../format.ts'
import { useHouse, useTheme } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useKeys } from '../hooks/use-keys.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import type { ScreenProps } from './screen-props.ts'
import { ShellView } from './shell-view.tsx'

const every = 2000

type Asking = { readonly what: 'create' } | { readonly what: 'stop'; readonly shell: ShellSession }

export function Shell(props: ScreenProps) {
  const [open, setOpen] = useState<string | null>(null)
  if (open !== null) return <ShellView {...props} id={open} onClose={() => setOpen(null)} />
  return <ShellList {...props} onOpen={setOpen} />
}

function ShellList({ width, height, onOpen }: ScreenProps & { readonly onOpen: (id: string) => void }) {
  const { link, say } = useHouse()
  const theme = useTheme()
  const { answer, error, again } = useAsk('listShells', {}, { every })
  const [asking, setAsking] = useState<Asking | null>(null)
  const attempt = useAttempt(again)
  const count = answer?.sessions.length ?? 0
  const now = useNow(15_000)
  useKeys('screen', {
    title: 'Shell sessions',
    bindings: [{ keys: ['c'], does: 'create', run: () => setAsking({ what: 'create' }) }],
  })
  const create = (image: string) => {
    setAsking(null)
    void attempt(async () => {
      say('making a shell session …')
      const made = await link.ask('createShell', image.trim() === '' ? {} : { image: image.trim() })
      say(`shell session ${made.id} is ready`, 'good')
    })
  }
  const stop = (shell: ShellSession) => {
    setAsking(null)
    void attempt(async () => {
      await link.ask('deleteShell', { session_id: shell.id })
      say(`shell session ${shell.id} is gone; its artifacts stay`, 'good')
    })
  }
  return (
    <Box flexDirection="column" width={width} height={height}>
      {asking?.what === 'create' && (
        <Prompt label=" image (or nothing): " width={width} onSubmit={create} onCancel={() => setAsking(null)} />
      )}
      {asking?.what === 'stop' && (
        <Confirm
          question={` Stop ${asking.shell.name ?? asking.shell.id}?`}
          onYes={() => stop(asking.shell)}
          onNo={() => setAsking(null)}
        />
      )}
      {!asking && (
        <Text bold wrap="truncate" color={error && !answer ? theme.bad : undefined}>
          {error && !answer ? ` ${error.message}` : ` ${count} shell session${count === 1 ? '' : 's'}`}
        </Text>
      )}
      <Table
        title="List"
        rows={answer?.sessions ?? []}
        keyOf={({ id }) => id}
        columns={columnsOf(theme, now)}
        width={width}
        height={height - 1}
        empty={answer ? 'no shell sessions: c makes one' : 'asking …'}
        onOpen={({ id }) => onOpen(id)}
        actions={[{ keys: ['x'], does: 'stop', run: (shell) => setAsking({ what: 'stop', shell }) }]}
      />
    </Box>
  )
}

const columnsOf = (theme: Theme, now: number): Column<ShellSession>[] => [
  { head: 'SESSION', of: ({ name, id }) => name ?? id, width: 24 },
  {
    head: 'STATE',
    of: ({ status }) => status,
    width: 9,
    colour: ({ status }) => (status === 'ready' ? theme.good : theme.notable),
  },
  { head: 'AGE', of: ({ created_at }) => since(created_at, now), width: 4, side: 'right' },
  { head: 'IDLE', of: ({ last_active_at }) => since(last_active_at, now), width: 4, side: 'right' },
  { head: 'RUNS', of: ({ running_execs, exec_count }) => `${running_execs}/${exec_count}`, width: 6, side: 'right' },
  { head: 'FILES', of: ({ artifact_count }) => String(artifact_count), width: 5, side: 'right' },
  { head: 'IMAGE', of: ({ image, network }) => `${image}, network ${network}` },
]
