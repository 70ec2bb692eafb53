/** One connected browser, as its developer tools would show it: tabs, console, network, and a line of raw protocol. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { BaxError } from '../../core/errors/errors.ts'
import type { RelayEvent, RelayRecord } from '../../core/shapes/relay.ts'
import { Pager } from '../components/pager.tsx'
import { Prompt } from '../components/prompt.tsx'
import { useHouse } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useAttempt } from '../hooks/use-attempt.ts'
import { useFrames } from '../hooks/use-frames.ts'
import { useKeys } from '../hooks/use-keys.ts'
import { curlOf, type PageRequest } from '../requests.ts'
import { cut, plain } from '../terminal/plain.ts'
import { type Panel, panels, type Reading, RelayTable } from './relay-tables.tsx'
import type { ScreenProps } from './screen-props.ts'

const every = 2000
/** Events that are kept here; the engine keeps more. */
const mostEvents = 2000

interface RelayViewProps extends ScreenProps {
  readonly id: string
  readonly onClose: () => void
}

export function RelayView(props: RelayViewProps) {
  const { width, height } = props
  const view = useRelayView(props)
  const { reading, asking, panel, relay } = view
  if (reading)
    return (
      <Pager
        {...reading}
        width={width}
        height={height}
        onClose={view.stopReading}
        actions={reading.request ? [{ keys: ['y'], does: 'copy as curl', run: () => view.copy(reading.request!) }] : []}
      />
    )
  return (
    <Box flexDirection="column" width={width} height={height}>
      {asking === null ? (
        <Text wrap="truncate">
          <Text bold>{` ${plain(relay?.name ?? props.id)} `}</Text>
          {panels.map((name) => (
            <Text key={name} inverse={name === panel} dimColor={name !== panel}>{` ${name} `}</Text>
          ))}
          <Text dimColor>
            {view.filter ? `  with "${view.filter}"` : `  ${cut(plain(statusOf(relay)), width - 60)}`}
          </Text>
        </Text>
      ) : (
        <Prompt
          label={asking === 'filter' ? ' only with: ' : ' method {params}: '}
          width={width}
          initial={asking === 'filter' ? view.filter : ''}
          {...(asking === 'filter' && { onChange: view.setFilter })}
          onSubmit={view.answer}
          onCancel={view.stopAsking}
        />
      )}
      <RelayTable
        width={width}
        height={height - 1}
        active={asking === null}
        panel={panel}
        events={view.events}
        targets={relay?.targets ?? []}
        filter={view.filter}
        onRead={view.read}
        onCopy={view.copy}
        onActivate={view.activate}
      />
    </Box>
  )
}

const statusOf = (relay: RelayRecord | undefined): string =>
  relay ? `${relay.status}, ${relay.browser?.product ?? 'no browser'}, policy ${relay.policy}` : 'asking …'

/** What is known of the browser, and what the keys do. */
function useRelayView({ id, onClose }: RelayViewProps) {
  const { link, screen, say } = useHouse()
  const { answer: relay } = useAsk('getRelay', { id }, { every })
  const [events, setEvents] = useState<readonly RelayEvent[]>([])
  const [panel, setPanel] = useState<Panel>('network')
  const [filter, setFilter] = useState('')
  const [asking, setAsking] = useState<'filter' | 'cdp' | null>(null)
  const [reading, setReading] = useState<Reading | null>(null)
  const attempt = useAttempt()
  useFrames({
    stream: 'followRelayEvents',
    input: { id },
    since: 0,
    onFrames: (frames) => setEvents((before) => [...before, ...(frames as never as RelayEvent[])].slice(-mostEvents)),
  })
  const callMethod = (line: string) =>
    attempt(async () => {
      const { method, params } = readMethod(line)
      const result = await link.ask('cdp', { session_id: id, method, params })
      setReading({ title: method, text: JSON.stringify(result.result ?? result, null, 2) })
    })
  const turn = (step: 1 | -1) => setPanel(panels[(panels.indexOf(panel) + step + panels.length) % panels.length]!)
  useKeys(
    'screen',
    {
      title: 'Browser',
      bindings: [
        { keys: ['tab'], does: 'the next panel', run: () => turn(1) },
        { keys: ['shift+tab'], does: 'the panel before', run: () => turn(-1) },
        { keys: ['/'], does: 'filter', run: () => setAsking('filter') },
        { keys: [':', 'i'], does: 'call a method of the protocol', run: () => setAsking('cdp') },
        { keys: ['escape', 'q'], does: 'back to the list', run: onClose },
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
    asking,
    reading,
    read: setReading,
    stopReading: () => setReading(null),
    stopAsking: () => setAsking(null),
    answer(text: string) {
      setAsking(null)
      if (asking === 'cdp' && text.trim() !== '') void callMethod(text)
    },
    activate: (target_id: string) => attempt(async () => void (await link.ask('activateTarget', { id, target_id }))),
    copy(request: PageRequest) {
      const text = curlOf(request)
      // The clipboard of the terminal, also over ssh; a terminal that has none shows it.
      screen.send(`\u001B]52;c;${Buffer.from(text).toString('base64')}\u0007`)
      setReading({ title: 'As curl; sent to the clipboard too', text, request })
      say('copied as curl', 'good')
    },
  }
}

/** `Page.reload {"ignoreCache": true}`. @throws BaxError `invalid_request` for parameters that are no JSON. */
function readMethod(line: string): { method: string; params: Record<string, unknown> } {
  const [, method = '', params = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? []
  try {
    return { method, params: params === '' ? {} : (JSON.parse(params) as Record<string, unknown>) }
  } catch (cause) {
    throw new BaxError('invalid_request', `the parameters are not JSON: ${(cause as Error).message}`, { cause })
  }
}
