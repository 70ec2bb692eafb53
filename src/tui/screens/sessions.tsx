/** The list of browser sessions, and the view of one of them. */
import { useState } from 'react'
import type { SessionRecord } from '../../core/shapes/session.ts'
import { Confirm } from '../components/confirm.tsx'
import { ListPage, listScreen, useDialog } from '../components/list-page.tsx'
import { Prompt } from '../components/prompt.tsx'
import type { Column } from '../components/table.tsx'
import { createSession } from '../create-session.ts'
import { formatAge } from '../format.ts'
import { useAttempt, useAppContext, useKeys, useTheme } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useNow } from '../hooks/use-now.ts'
import type { Theme } from '../theme.ts'
import type { ListProps } from './screen-props.ts'
import { SessionView } from './session.tsx'

const every = 2000

/** Maximum idle time that is shown in seconds. */
const recentMs = 60_000

export const Sessions = listScreen(SessionList, SessionView)

function SessionList({ width, height, onOpen }: ListProps<string>) {
  const theme = useTheme()
  const list = usePolling('listSessions', {}, { every })
  const { dialog, open, close: cancel, closing } = useDialog<'start' | 'filter' | SessionRecord>()
  const [filter, setFilter] = useState('')
  const all = list.answer?.sessions ?? []
  const rows = all.filter((session) => textOf(session).includes(filter.toLowerCase()))
  const isRecent = rows.some(({ last_activity_at: at }) => Date.now() - Date.parse(at) < recentMs)
  const now = useNow(isRecent ? 1000 : 15_000)
  const { start, close } = useSessionActions(list.refresh)
  useKeys('screen', {
    title: 'Sessions',
    bindings: [
      { keys: ['c'], label: 'create', run: () => open('start') },
      { keys: ['/'], label: 'filter', run: () => open('filter') },
      ...(filter ? [{ keys: ['escape'], label: 'clear the filter', run: () => setFilter('') }] : []),
    ],
  })
  const dialogs = {
    start: <Prompt label=" start page (optional): " width={width} onSubmit={closing(start)} onCancel={cancel} />,
    filter: (
      <Prompt
        label=" filter: "
        width={width}
        initial={filter}
        onChange={setFilter}
        onSubmit={cancel}
        onCancel={closing(() => setFilter(''))}
      />
    ),
  }
  return (
    <ListPage
      title="List"
      list={list}
      summary={summaryOf(all.length, rows.length, filter)}
      dialog={
        typeof dialog === 'string'
          ? dialogs[dialog]
          : dialog && (
              <Confirm
                question={` Close ${dialog.name ?? dialog.session_id}?`}
                onYes={closing(() => close(dialog))}
                onNo={cancel}
              />
            )
      }
      rows={rows}
      keyOf={({ session_id }) => session_id}
      columns={columnsOf(theme, now, width)}
      width={width}
      height={height}
      empty={filter ? 'no session matches the filter' : 'no sessions; press c to create one'}
      onOpen={({ session_id }) => onOpen(session_id)}
      actions={[{ keys: ['x'], label: 'close', run: open }]}
    />
  )
}

function useSessionActions(refresh: () => void) {
  const { link, notify } = useAppContext()
  const run = useAttempt(refresh)
  return {
    start: (url: string) =>
      run(async () => {
        notify('creating a session …')
        const created = await createSession(link, url.trim() === '' ? {} : { start_url: url.trim() }, notify)
        const { session_id, warning } = created
        notify(`session ${session_id} is ready${warning ? `: ${warning}` : ''}`, warning ? 'bad' : 'good')
      }),
    close: ({ session_id }: SessionRecord) =>
      run(async () => {
        await link.call('closeSession', { session_id })
        notify(`session ${session_id} is closed`, 'good')
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
    { head: 'AGE', of: ({ created_at }) => formatAge(created_at, now), width: 4, side: 'right' },
    { head: 'IDLE', of: ({ last_activity_at }) => formatAge(last_activity_at, now), width: 4, side: 'right' },
    { head: 'PAGE', of: ({ url, title }) => (title ? `${title} — ${url}` : url) },
  ]
}
