/** The view of one connected browser, similar to developer tools: network, console, tabs, and raw CDP calls. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { BaxError } from '../../core/errors/errors.ts'
import type { RelayEvent, RelayRecord } from '../../core/shapes/relay.ts'
import { Pager } from '../components/pager.tsx'
import { cycle, PanelBar } from '../components/panel-bar.tsx'
import { Prompt } from '../components/prompt.tsx'
import { useAttempt, useAppContext, useKeys } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useFrames } from '../hooks/use-frames.ts'
import { curlOf, type PageRequest } from '../requests.ts'
import { plain } from '../../core/text/plain.ts'
import { cut } from '../terminal/plain.ts'
import { type Panel, panels, type Reading, RelayTable } from './relay-tables.tsx'
import type { ViewProps } from '../components/list-page.tsx'

/** Maximum number of events kept here; the engine keeps more. */
const maxEvents = 2000

export function RelayView(props: ViewProps<string>) {
  const { width, height } = props
  const view = useRelayView(props)
  const { reading, prompt, panel, relay } = view
  if (reading)
    return (
      <Pager
        {...reading}
        width={width}
        height={height}
        onClose={() => view.read(null)}
        actions={
          reading.request ? [{ keys: ['y'], label: 'copy as curl', run: () => view.copy(reading.request!) }] : []
        }
      />
    )
  return (
    <Box flexDirection="column" width={width} height={height}>
      {prompt === null ? (
        <Text wrap="truncate">
          <Text bold>{` ${plain(relay?.name ?? props.item)} `}</Text>
          <PanelBar panels={panels} shown={panel} />
          <Text dimColor>
            {view.filter ? `  with "${view.filter}"` : `  ${cut(plain(statusOf(relay)), width - 60)}`}
          </Text>
        </Text>
      ) : (
        <Prompt
          label={prompt === 'filter' ? ' filter: ' : ' method {params}: '}
          width={width}
          initial={prompt === 'filter' ? view.filter : ''}
          {...(prompt === 'filter' && { onChange: view.setFilter })}
          onSubmit={view.answer}
          onCancel={view.closePrompt}
        />
      )}
      <RelayTable width={width} height={height - 1} active={prompt === null} view={view} />
    </Box>
  )
}

const statusOf = (relay: RelayRecord | undefined): string =>
  relay ? `${relay.status}, ${relay.browser?.product ?? 'no browser'}, policy ${relay.policy}` : 'loading …'

export type RelayPanels = ReturnType<typeof useRelayView>

/** Returns the state of the view, and binds its keys. */
function useRelayView({ item: id, onClose }: ViewProps<string>) {
  const { link, screen, notify } = useAppContext()
  const { answer: relay } = usePolling('getRelay', { id }, { every: 2000 })
  const [events, setEvents] = useState<readonly RelayEvent[]>([])
  const [panel, setPanel] = useState<Panel>('network')
  const [filter, setFilter] = useState('')
  const [prompt, setPrompt] = useState<'filter' | 'cdp' | null>(null)
  const [reading, setReading] = useState<Reading | null>(null)
  const attempt = useAttempt()
  useFrames({
    stream: 'followRelayEvents',
    input: { id },
    since: 0,
    onFrames: (frames) => setEvents((before) => [...before, ...frames].slice(-maxEvents)),
  })
  const callMethod = (line: string) =>
    attempt(async () => {
      const { method, params } = readMethod(line)
      const result = await link.call('cdp', { session_id: id, method, params })
      setReading({ title: method, text: JSON.stringify(result.result ?? result, null, 2) })
    })
  useKeys(
    'screen',
    {
      title: 'Browser',
      bindings: [
        { keys: ['tab'], label: 'next panel', run: () => setPanel(cycle(panels, panel)) },
        { keys: ['shift+tab'], label: 'previous panel', run: () => setPanel(cycle(panels, panel, -1)) },
        { keys: ['/'], label: 'filter', run: () => setPrompt('filter') },
        { keys: [':', 'i'], label: 'call a CDP method', run: () => setPrompt('cdp') },
        { keys: ['escape', 'q'], label: 'back to the list', run: onClose },
      ],
    },
    reading === null,
  )
  return {
    relay,
    events,
    panel,
    filter,
    setFilter,
    prompt,
    reading,
    read: setReading,
    closePrompt: () => setPrompt(null),
    answer(text: string) {
      setPrompt(null)
      if (prompt === 'cdp' && text.trim() !== '') void callMethod(text)
    },
    activate: (target_id: string) => attempt(async () => void (await link.call('activateTarget', { id, target_id }))),
    copy(request: PageRequest) {
      const text = curlOf(request)
      // OSC 52 writes to the terminal's clipboard, also over SSH. The text is shown for terminals that ignore it.
      screen.send(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
      setReading({ title: 'curl command (copied to the clipboard)', text, request })
      notify('copied as curl', 'good')
    },
  }
}

/** Parses a line such as `Page.reload {"ignoreCache": true}`. @throws BaxError `invalid_request` for invalid JSON. */
function readMethod(line: string): { method: string; params: Record<string, unknown> } {
  const [, method = '', params = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? []
  try {
    return { method, params: params === '' ? {} : (JSON.parse(params) as Record<string, unknown>) }
  } catch (cause) {
    throw new BaxError('invalid_request', `the parameters are not JSON: ${(cause as Error).message}`, { cause })
  }
}
