/** The list of browser sessions, and the view of one of them. */
import { setTimeout as after } from 'node:timers/promises'
import { useState } from 'react'
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import type { SessionRecord } from '../../core/shapes/session.ts'
import { ListPage, type ListProps, listScreen } from '../components/list-page.tsx'
import type { Column } from '../components/table.tsx'
import { formatAge } from '../format.ts'
import { useAttempt, useAppContext } from '../hooks/app-context.ts'
import { useNow, usePolling } from '../hooks/use-polling.ts'
import type { Link } from '../link.ts'
import type { Theme } from '../theme.ts'
import { SessionView } from './session.tsx'

/** Maximum idle time that is shown in seconds. */
const recentMs = 60_000

export const Sessions = listScreen(SessionList, SessionView)

function SessionList({ width, height, onOpen }: ListProps<string>) {
  const { link, notify, theme } = useAppContext()
  const list = usePolling('listSessions', {}, { every: 2000 })
  const [filter, setFilter] = useState('')
  const all = list.answer?.sessions ?? []
  const rows = all.filter((session) => textOf(session).includes(filter.toLowerCase()))
  const isRecent = rows.some(({ last_activity_at: at }) => Date.now() - Date.parse(at) < recentMs)
  const now = useNow(isRecent ? 1000 : 15_000)
  const attempt = useAttempt(list.refresh)
  const start = (url: string) =>
    attempt(async () => {
      notify('creating a session …')
      const { session_id, warning } = await createSession(link, url.trim(), notify)
      notify(`session ${session_id} is ready${warning ? `: ${warning}` : ''}`, warning ? 'bad' : 'good')
    })
  const close = ({ session_id }: SessionRecord) =>
    attempt(async () => {
      await link.call('closeSession', { session_id })
      notify(`session ${session_id} is closed`, 'good')
    })
  const clear = () => setFilter('')
  const prompts = [
    { key: 'c', label: 'create', prompt: ' start page (optional): ', onSubmit: start },
    {
      key: '/',
      label: 'filter',
      prompt: ' filter: ',
      initial: filter,
      onChange: setFilter,
      onSubmit: () => {},
      onCancel: clear,
    },
  ]
  return (
    <ListPage
      title="List"
      list={list}
      summary={summaryOf(all.length, rows.length, filter)}
      rows={rows}
      keyOf={({ session_id }) => session_id}
      columns={columnsOf(theme, now, width)}
      width={width}
      height={height}
      empty={filter ? 'no session matches the filter' : 'no sessions; press c to create one'}
      onOpen={({ session_id }) => onOpen(session_id)}
      keys={{
        title: 'Sessions',
        prompts,
        others: filter ? [{ keys: ['escape'], label: 'clear the filter', run: clear }] : [],
      }}
      ending={{ label: 'close', question: ({ name, session_id }) => ` Close ${name ?? session_id}?`, run: close }}
    />
  )
}

/** Creates a session and waits until it is ready; reports progress to `notify`. @throws BaxError from the engine. */
async function createSession(link: Link, start_url: string, notify: (text: string) => void) {
  const { session_id, warning, provision_id } = await link.call('createSession', start_url === '' ? {} : { start_url })
  if (session_id !== undefined) return { session_id, warning }
  for (;;) {
    const state = await link.call('pollProvision', { provision_id: provision_id! })
    if (state.session_id !== null) return { session_id: state.session_id, warning: state.warning }
    if (state.status === 'failed' || state.status === 'cancelled')
      throw new BaxError((state.code ?? 'no_capacity') as ErrorCode, state.error ?? 'the session could not be created')
    notify(
      `waiting for a browser: ${state.stage}${state.queue_position ? `, ${state.queue_position} in the queue` : ''}`,
    )
    await after(state.retry_after_ms)
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
