/** What stands beside the picture of a session: its events, its page in words, its storage, its tabs. */
import { Box, Text } from 'ink'
import { useMemo, useState } from 'react'
import { type Event, eventFacts } from '../../core/events/event-line.ts'
import type { Observation } from '../../core/shapes/observe.ts'
import { Pager } from '../components/pager.tsx'
import { Prompt } from '../components/prompt.tsx'

export const panels = ['events', 'page', 'storage', 'tabs'] as const
export type Panel = (typeof panels)[number]

interface PanelProps {
  readonly width: number
  readonly height: number
  readonly active: boolean
}

/** Groups of event types that are looked at together. */
const kinds = ['all', 'page', 'console', 'network', 'command'] as const

const isOfKind = (type: string, kind: (typeof kinds)[number]): boolean =>
  kind === 'all' ||
  (kind === 'console'
    ? type === 'console' || type === 'page.error'
    : type.startsWith(kind === 'page' ? 'page' : kind)) ||
  (kind === 'page' && /^(?:tab|dialog|download|session)\./.test(type))

export function EventsPanel({ events, width, height, active }: PanelProps & { readonly events: readonly Event[] }) {
  const [kind, setKind] = useState<(typeof kinds)[number]>('all')
  const [filter, setFilter] = useState('')
  const [isTyping, setTyping] = useState(false)
  const text = useMemo(() => {
    const wanted = filter.toLowerCase()
    return events
      .filter(({ type }) => isOfKind(type, kind))
      .map(
        ({ ts, type, data }) => `${String(ts).slice(11, 19)} ${type.replace('network.', '')} ${eventFacts(type, data)}`,
      )
      .filter((line) => line.toLowerCase().includes(wanted))
      .join('\n')
  }, [events, kind, filter])
  return (
    <Box flexDirection="column" width={width} height={height}>
      {isTyping && (
        <Prompt
          label="only events with: "
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
        text={text || 'nothing yet'}
        width={width}
        height={height - (isTyping ? 1 : 0)}
        active={active}
        follow
        cuts
        actions={[
          { keys: ['f'], does: 'another kind', run: () => setKind(kinds[(kinds.indexOf(kind) + 1) % kinds.length]!) },
          { keys: ['F'], does: 'only some', run: () => setTyping(true) },
        ]}
      />
    </Box>
  )
}

interface ObservedProps extends PanelProps {
  readonly observation: Observation | undefined
  readonly problem: string | null
}

export function PagePanel({ observation, problem, ...box }: ObservedProps) {
  const text = problem ?? observation?.snapshot ?? 'looking …'
  return <Pager title="Page, with refs" text={text || 'an empty page'} {...box} />
}

export function StoragePanel({ observation, problem, ...box }: ObservedProps) {
  const storage = observation?.storage
  return <Pager title="Cookies and storage" text={problem ?? (storage ? storageText(storage) : 'looking …')} {...box} />
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

export function TabsPanel({ observation, problem, ...box }: ObservedProps) {
  const tabs = observation?.tabs
  const text = tabs
    ?.map(({ active, title, url }) => `${active ? '●' : '○'} ${title || '(no title)'}\n  ${url}`)
    .join('\n')
  return <Pager title="Tabs" text={problem ?? text ?? 'looking …'} {...box} />
}

/** The names of the panels, the shown one marked. */
export function PanelBar({ shown, width }: { readonly shown: Panel; readonly width: number }) {
  return (
    <Box width={width} height={1} overflow="hidden">
      {panels.map((name) => (
        <Text key={name} bold={name === shown} inverse={name === shown} dimColor={name !== shown}>
          {` ${name} `}
        </Text>
      ))}
    </Box>
  )
}
