/** The browser sessions of the engine, and from there into one of them. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import type { SessionRecord } from '../../core/shapes/session.ts'
import { Confirm } from '../components/confirm.tsx'
import { Prompt } from '../components/prompt.tsx'
import { type Column, Table } from '../components/table.tsx'
import { createSession } from '../create-session.ts'
import { since } from '../format.ts'
import { useHouse, useTheme } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useKeys } from '../hooks/use-keys.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import type { ScreenProps } from './screen-props.ts'
import { SessionView } from './session.tsx'

/** Milliseconds between looks at the list. */
const every = 2000

/** A session's age is told in seconds only while it is young. */
const youngMs = 60_000

type Asking = { readonly what: 'start' | 'filter' } | { readonly what: 'close'; readonly session: SessionRecord }

export function Sessions(props: ScreenProps) {
  const [open, setOpen] = useState<string | null>(null)
  return open === null ? (
    <SessionList {...props} onOpen={setOpen} />
  ) : (
    <SessionView {...props} sessionId={open} onClose={() => setOpen(null)} />
  )
}

function SessionList({ width, height, onOpen }: ScreenProps & { readonly onOpen: (id: string) => void }) {
  const theme = useTheme()
  const { answer, error, again } = useAsk('listSessions', {}, { every })
  const [asking, setAsking] = useState<Asking | null>(null)
  const [filter, setFilter] = useState('')
  const all = answer?.sessions ?? []
  const rows = all.filter((session) => textOf(session).includes(filter.toLowerCase()))
  const isYoung = rows.some(({ last_activity_at: at }) => Date.now() - Date.parse(at) < youngMs)
  const now = useNow(isYoung ? 1000 : 15_000)

  const { start, close } = useDoing(again)
  useKeys('screen', {
    title: 'Sessions',
    bindings: [
      { keys: ['c'], does: 'create', run: () => setAsking({ what: 'start' }) },
      { keys: ['/'], does: 'filter', run: () => setAsking({ what: 'filter' }) },
      ...(filter ? [{ keys: ['escape'], does: 'all of them', run: () => setFilter('') }] : []),
    ],
  })
  return (
    <Box flexDirection="column" width={width} height={height}>
      <AskingLine
        asking={asking}
        summary={error && !answer ? error.message : summaryOf(all.length, rows.length, filter)}
        isBad={Boolean(error && !answer)}
        width={width}
        filter={filter}
        onFilter={setFilter}
        onStart={start}
        onCloseSession={close}
        onDone={() => setAsking(null)}
      />
      <Table
        title="List"
        rows={rows}
        keyOf={({ session_id }) => session_id}
        columns={columnsOf(theme, now, width)}
        width={width}
        height={height - 1}
        empty={answer ? (filter ? 'none of them matches' : 'no sessions: c makes one') : 'asking …'}
        onOpen={({ session_id }) => onOpen(session_id)}
        actions={[{ keys: ['x'], does: 'close', run: (session) => setAsking({ what: 'close', session }) }]}
      />
    </Box>
  )
}

/** What changes the list. */
function useDoing(again: () => void) {
  const { link, say } = useHouse()
  const run = useAttempt(again)
  return {
    start: (url: string) =>
      run(async () => {
        say('making a session …')
        const made = await createSession(link, url.trim() === '' ? {} : { start_url: url.trim() }, say)
        const { session_id, warning } = made
        say(`session ${session_id} is ready${warning ? `: ${warning}` : ''}`, warning ? 'bad' : 'good')
      }),
    close: ({ session_id }: SessionRecord) =>
      run(async () => {
        await link.ask('closeSession', { session_id })
        say(`session ${session_id} is closed`, 'good')
      }),
  }
}

const textOf = ({ session_id, name, url, title, status }: SessionRecord): string =>
  `${session_id} ${name ?? ''} ${status} ${url} ${title}`.toLowerCase()

const summaryOf = (all: number, shown: number, filter: string): string =>
  filter ? `${shown} of ${all} sessions with "${filter}"` : `${all} session${all === 1 ? '' : 's'}`

function columnsOf(theme: Theme, now: number, width: number): Column<SessionRecord>[] {
  return [
    { head: 'SESSION', of: ({ name, session_id }) => name ?? session_id, width: width < 100 ? 18 : 26 },
    {
      head: 'STATE',
      of: ({ status }) => status,
      width: 12,
      colour: ({ status }) => (status === 'ready' ? theme.good : theme.notable),
    },
    { head: 'TABS', of: ({ tabs }) => String(tabs), width: 4, side: 'right' },
    { head: 'AGE', of: ({ created_at }) => since(created_at, now), width: 4, side: 'right' },
    { head: 'IDLE', of: ({ last_activity_at }) => since(last_activity_at, now), width: 4, side: 'right' },
    { head: 'PAGE', of: ({ url, title }) => (title ? `${title} — ${url}` : url) },
  ]
}

interface AskingLineProps {
  readonly asking: Asking | null
  readonly summary: string
  readonly isBad: boolean
  readonly width: number
  readonly filter: string
  readonly onFilter: (text: string) => void
  readonly onStart: (url: string) => void
  readonly onCloseSession: (session: SessionRecord) => void
  readonly onDone: () => void
}

function AskingLine(props: AskingLineProps) {
  const { asking, summary, isBad, width, filter, onFilter, onStart, onCloseSession, onDone } = props
  const theme = useTheme()
  const then =
    <Args extends unknown[]>(work: (...args: Args) => void) =>
    (...args: Args) => {
      onDone()
      work(...args)
    }
  if (asking?.what === 'start')
    return <Prompt label=" start page (or nothing): " width={width} onSubmit={then(onStart)} onCancel={onDone} />
  if (asking?.what === 'filter')
    return (
      <Prompt
        label=" filter: "
        width={width}
        initial={filter}
        onChange={onFilter}
        onSubmit={onDone}
        onCancel={then(() => onFilter(''))}
      />
    )
  if (asking?.what === 'close')
    return (
      <Confirm
        question={` Close ${asking.session.name ?? asking.session.session_id}?`}
        onYes={then(() => onCloseSession(asking.session))}
        onNo={onDone}
      />
    )
  return (
    <Text bold wrap="truncate" color={isBad ? theme.bad : undefined}>
      {` ${summary}`}
    </Text>
  )
}
