/** The panels of a connected browser: its requests, console, tabs and all events. */
import { useMemo } from 'react'
import { relayEventFacts } from '../../core/events/event-line.ts'
import { type Column, Table } from '../components/table.tsx'
import { formatSize } from '../format.ts'
import { useTheme } from '../hooks/app-context.ts'
import { type PageRequest, requestsOf } from '../requests.ts'
import type { Theme } from '../theme.ts'
import type { RelayPanels } from './relay-view.tsx'

export const panels = ['network', 'console', 'tabs', 'all'] as const
export type Panel = (typeof panels)[number]

/** Text that is shown in full. */
export interface Reading {
  readonly title: string
  readonly text: string
  /** The request that the text describes, if it does. */
  readonly request?: PageRequest
}

interface RelayTableProps {
  readonly width: number
  readonly height: number
  readonly active: boolean
  readonly view: RelayPanels
}

export function RelayTable({ view, ...box }: RelayTableProps) {
  if (view.panel === 'network') return <Requests view={view} {...box} />
  if (view.panel !== 'tabs') return <Events view={view} {...box} />
  return (
    <Table
      title="Tabs"
      rows={view.relay?.targets ?? []}
      keyOf={({ target_id }) => target_id}
      columns={[
        { head: '', of: ({ active, responsive }) => (responsive ? (active ? '●' : '○') : '!'), width: 1 },
        { head: 'TITLE', of: ({ title }) => title },
        { head: 'URL', of: ({ url }) => url },
      ]}
      empty="no tabs"
      onOpen={({ target_id }) => view.activate(target_id)}
      {...box}
    />
  )
}

/** Requests, newest first. */
function Requests({ view: { events, filter, read, copy }, ...box }: RelayTableProps) {
  const theme = useTheme()
  const rows = useMemo(() => {
    const needle = filter.toLowerCase()
    const all = requestsOf(events).filter(({ url, method }) => `${method} ${url}`.toLowerCase().includes(needle))
    return all.toReversed()
  }, [events, filter])
  return (
    <Table
      title="Requests"
      rows={rows}
      keyOf={({ id }) => id}
      columns={requestColumns(theme)}
      empty="no requests yet"
      onOpen={(request) => read({ title: request.url, text: JSON.stringify(request.events, null, 2), request })}
      actions={[{ keys: ['y'], label: 'copy as curl', run: copy }]}
      {...box}
    />
  )
}

const requestColumns = (theme: Theme): Column<PageRequest>[] => [
  {
    head: 'STATUS',
    of: ({ status, problem }) => problem ?? String(status ?? '…'),
    width: 8,
    colour: ({ status, problem }) => (problem || (status ?? 0) >= 400 ? theme.bad : undefined),
  },
  { head: 'METHOD', of: ({ method }) => method, width: 7 },
  { head: 'KIND', of: ({ resource }) => resource, width: 10 },
  { head: 'SIZE', of: ({ bytes }) => (bytes === null ? '' : formatSize(bytes)), width: 7, side: 'right' },
  { head: 'MS', of: ({ ms }) => (ms === null ? '' : String(ms)), width: 6, side: 'right' },
  { head: 'URL', of: ({ url }) => url },
]

function Events({ view: { panel, events, filter, read }, ...box }: RelayTableProps) {
  const theme = useTheme()
  const rows = useMemo(() => {
    const needle = filter.toLowerCase()
    return events
      .filter(({ kind }) => panel === 'all' || kind === panel)
      .map((event) => ({ event, text: relayEventFacts(event) }))
      .filter(({ text }) => text.toLowerCase().includes(needle))
      .toReversed()
  }, [events, panel, filter])
  return (
    <Table
      title="Events"
      rows={rows}
      keyOf={({ event }) => String(event.seq)}
      columns={[
        { head: 'TIME', of: ({ event }) => new Date(event.ts).toISOString().slice(11, 19), width: 8 },
        { head: 'KIND', of: ({ event }) => `${event.kind} ${event.type}`, width: 18 },
        {
          head: 'DETAILS',
          of: ({ text }) => text,
          colour: ({ event }) =>
            event.data['level'] === 'error' || event.type === 'exception' ? theme.bad : undefined,
        },
      ]}
      empty="no events yet"
      onOpen={({ event }) => read({ title: event.type, text: JSON.stringify(event, null, 2) })}
      {...box}
    />
  )
}
