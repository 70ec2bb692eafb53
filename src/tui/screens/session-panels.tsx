/** The panels beside the image of a session: events, page snapshot, storage and tabs. */
import { Box } from 'ink'
import { useMemo, useState } from 'react'
import { type Event, eventFacts } from '../../core/events/event-line.ts'
import type { Observation } from '../../core/shapes/observe.ts'
import { Pager } from '../components/pager.tsx'
import { cycle } from '../components/panel-bar.tsx'
import { Prompt } from '../components/prompt.tsx'

export const panels = ['events', 'page', 'storage', 'tabs'] as const
export type Panel = (typeof panels)[number]

interface PanelProps {
  readonly width: number
  readonly height: number
  readonly active: boolean
}

/** Groups of event types to filter by. */
const kinds = ['all', 'page', 'console', 'network', 'command'] as const

const isOfKind = (type: string, kind: (typeof kinds)[number]): boolean =>
  kind === 'all' ||
  (kind === 'console'
    ? type === 'console' || type === 'page.error'
    : type.startsWith(kind === 'page' ? 'page' : kind)) ||
  (kind === 'page' && /^(?:tab|dialog|download|session)\./.test(type))

/** Width in which most events fit on one line; in narrower panels they wrap. */
const wideEnough = 60

export function EventsPanel({ events, width, height, active }: PanelProps & { readonly events: readonly Event[] }) {
  const [kind, setKind] = useState<(typeof kinds)[number]>('all')
  const [filter, setFilter] = useState('')
  const [isTyping, setTyping] = useState(false)
  const text = useMemo(() => {
    const needle = filter.toLowerCase()
    return events
      .filter(({ type }) => isOfKind(type, kind))
      .map(
        ({ ts, type, data }) => `${String(ts).slice(11, 19)} ${type.replace('network.', '')} ${eventFacts(type, data)}`,
      )
      .filter((line) => line.toLowerCase().includes(needle))
      .join('\n')
  }, [events, kind, filter])
  return (
    <Box flexDirection="column" width={width} height={height}>
      {isTyping && (
        <Prompt
          label="filter: "
          width={width}
          initial={filter}
          onChange={setFilter}
          onSubmit={() => setTyping(false)}
          onCancel={() => {
            setFilter('')
            setTyping(false)
          }}
        />
      )}
      <Pager
        title={`Events: ${kind}${filter ? ` with "${filter}"` : ''}`}
        text={text || 'no events yet'}
        width={width}
        height={height - (isTyping ? 1 : 0)}
        active={active}
        follow
        cuts={width >= wideEnough}
        actions={[
          { keys: ['f'], label: 'next kind', run: () => setKind(cycle(kinds, kind)) },
          { keys: ['F'], label: 'filter', run: () => setTyping(true) },
        ]}
      />
    </Box>
  )
}

interface ObservedPanelProps extends PanelProps {
  readonly panel: keyof typeof observedPanels
  readonly observation: Observation | undefined
  readonly problem: string | null
}

const observedPanels = {
  page: {
    title: 'Page, with refs',
    textOf: ({ snapshot }: Observation) => (snapshot === '' ? 'the page is empty' : snapshot),
  },
  storage: { title: 'Cookies and storage', textOf: ({ storage }: Observation) => storage && storageText(storage) },
  tabs: { title: 'Tabs', textOf: ({ tabs }: Observation) => tabs && tabsText(tabs) },
}

export function ObservedPanel({ panel, observation, problem, ...box }: ObservedPanelProps) {
  const { title, textOf } = observedPanels[panel]
  return <Pager title={title} text={problem ?? (observation && textOf(observation)) ?? 'loading …'} {...box} />
}

function storageText({ cookies, local_storage, session_storage }: NonNullable<Observation['storage']>): string {
  const part = (head: string, lines: readonly string[]) => [head, ...(lines.length > 0 ? lines : ['  none']), '']
  const pairs = (store: Record<string, string> | null) =>
    Object.entries(store ?? {}).map(([name, value]) => `  ${name} = ${value}`)
  return [
    ...part(
      'Cookies',
      cookies.map(({ name, value, domain, path, secure, httpOnly }) => {
        const facts = [domain, path, secure && 'secure', httpOnly && 'http only'].filter(Boolean).join(' ')
        return `  ${String(name)} = ${String(value)}  (${facts})`
      }),
    ),
    ...part('Local storage', pairs(local_storage)),
    ...part('Session storage', pairs(session_storage)),
  ].join('\n')
}

const tabsText = (tabs: NonNullable<Observation['tabs']>): string =>
  tabs.map(({ active, title, url }) => `${active ? '●' : '○'} ${title || '(no title)'}\n  ${url}`).join('\n')
