/** The view of one session: a live image of its page, panels, and a command line. */
import { Box, Text } from 'ink'
import { useState } from 'react'
import { CommandLine } from '../components/command-line.tsx'
import { Pager } from '../components/pager.tsx'
import { cycle, PanelBar } from '../components/panel-bar.tsx'
import { LiveImage } from '../components/live-image.tsx'
import { Transcript, transcriptText, useTranscript } from '../components/transcript.tsx'
import { useAppContext, useKeys, useTheme } from '../hooks/app-context.ts'
import { usePolling } from '../hooks/use-polling.ts'
import { useHistory } from '../hooks/use-history.ts'
import { useObservation } from '../hooks/use-observation.ts'
import { useRecording } from '../hooks/use-recording.ts'
import { useSessionEvents } from '../hooks/use-session-events.ts'
import { plain } from '../../core/text/plain.ts'
import { cut } from '../terminal/plain.ts'
import type { ViewProps } from '../components/list-page.tsx'
import { SaveRecording } from './save-recording.tsx'
import { EventsPanel, ObservedPanel, type Panel, panels } from './session-panels.tsx'

/** Layouts: image and panels, or only one of them. */
const layouts = ['both', 'image', 'panels'] as const

export function SessionView(props: ViewProps<string>) {
  const { width, height } = props
  const at = useSessionView(props)
  if (at.isReading)
    return (
      <Pager
        title="Results"
        text={transcriptText(at.transcript.entries) || 'no commands yet'}
        width={width}
        height={height}
        follow
        onClose={at.stopReading}
      />
    )
  const sizes = sizesOf(width, height, at.layout)
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Headline {...props} at={at} />
      <Body {...props} at={at} sizes={sizes} />
      {at.recording.toSave === null ? (
        <CommandLine
          width={width}
          active={at.isTyping}
          elements={at.elements}
          history={at.history}
          mark={at.recording.isOn ? '● ' : ''}
          onSubmit={at.submit}
          onLeave={at.stopTyping}
        />
      ) : (
        <SaveRecording recording={at.recording.toSave} width={width} onDone={at.recording.forget} />
      )}
    </Box>
  )
}

type View = ReturnType<typeof useSessionView>

/** Returns the state of the view, and binds its keys. */
function useSessionView({ item: sessionId, onClose }: ViewProps<string>) {
  const { notify } = useAppContext()
  const { answer: session, error } = usePolling('getSession', { session_id: sessionId }, { every: 2000 })
  const { events, closed, changes } = useSessionEvents(sessionId)
  const [panel, setPanel] = useState<Panel>('events')
  const [layout, setLayout] = useState<(typeof layouts)[number]>('both')
  const [isTyping, setTyping] = useState(false)
  const [isReading, setReading] = useState(false)
  const observed = useObservation(sessionId, changes, { storage: panel === 'storage', active: closed === null })
  const elements = observed.observation?.elements ?? []
  const { history, remember } = useHistory()
  const recording = useRecording(() => new Map(elements.map(({ ref, selector }) => [ref, selector])))
  const transcript = useTranscript(sessionId, recording.prepare)
  const record = () => (recording.isOn ? recording.stop() : recording.start(session?.url ?? ''))
  useKeys('screen', {
    title: 'Session',
    bindings: [
      { keys: ['i', ':', 'enter'], label: 'type a command', run: () => setTyping(true) },
      { keys: ['tab'], label: 'next panel', run: () => setPanel(cycle(panels, panel)) },
      { keys: ['shift+tab'], label: 'previous panel', run: () => setPanel(cycle(panels, panel, -1)) },
      { keys: ['z'], label: 'change the layout', run: () => setLayout(cycle(layouts, layout)) },
      { keys: ['r'], label: recording.isOn ? 'stop recording' : 'record', run: record },
      { keys: ['o'], label: 'show all results', run: () => setReading(true) },
      { keys: ['u'], label: 'refresh', run: observed.refresh },
      { keys: ['escape', 'q'], label: 'back to the list', run: onClose },
    ],
  })
  return {
    session,
    state: closed === null ? (error && !session ? error.message : (session?.status ?? '…')) : `ended: ${closed}`,
    events,
    closed,
    panel,
    layout,
    observed,
    elements,
    history,
    recording,
    transcript,
    isTyping,
    isReading,
    stopTyping: () => setTyping(false),
    stopReading: () => setReading(false),
    submit(line: string) {
      remember(line).catch((failure: Error) => notify(`cannot save the command history: ${failure.message}`, 'bad'))
      transcript.run(line)
    },
  }
}

interface BodyProps extends ViewProps<string> {
  readonly at: View
  readonly sizes: ReturnType<typeof sizesOf>
}

/** The image above the transcript, and the panels beside both. */
function Body({ width, covered, item: sessionId, at, sizes }: BodyProps) {
  const { panel, observed, transcript } = at
  const { body, left, image, panels: right } = sizes
  const isActive = !at.isTyping && at.recording.toSave === null
  const box = { width: right.width, height: right.height - 1, active: isActive }
  const shownPanels = right.height > 0 && (
    <Box flexDirection="column" width={right.width} height={right.height} marginLeft={image > 0 ? 1 : 0}>
      <Box width={right.width} height={1} overflow="hidden">
        <PanelBar panels={panels} shown={panel} />
      </Box>
      {panel === 'events' && <EventsPanel events={at.events} {...box} />}
      {panel !== 'events' && <ObservedPanel key={panel} panel={panel} {...observed} {...box} />}
    </Box>
  )
  const results = <Transcript entries={transcript.entries} width={left} height={sizes.transcript} />
  if (image === 0)
    return (
      <Box flexDirection="column" width={width} height={body}>
        {shownPanels}
        {results}
      </Box>
    )
  return (
    <Box width={width} height={body}>
      <Box flexDirection="column" width={left} height={body}>
        <LiveImage
          sessionId={sessionId}
          width={left}
          height={image}
          covered={covered || at.closed !== null}
          onClick={(x, y) => transcript.run(`click-at ${x} ${y}`)}
        />
        {results}
      </Box>
      {shownPanels}
    </Box>
  )
}

/** Cells of a 16:9 page: it is about 3.6 times as wide as it is high. */
const cellRatio = 3.6

/** Divides the terminal among the parts of the view, below the headline and above the command line. */
function sizesOf(width: number, height: number, layout: (typeof layouts)[number]) {
  const body = Math.max(7, height - 3)
  const least = Math.max(3, Math.floor(body * 0.25))
  const none = { width: 0, height: 0 }
  if (layout === 'panels')
    return { body, left: width, image: 0, transcript: least, panels: { width, height: body - least } }
  const left =
    layout === 'image'
      ? width
      : Math.min(Math.floor(width * 0.6), Math.max(Math.floor(width / 2), Math.floor((body - least) * cellRatio)))
  const image = Math.min(body - least, Math.ceil(left / cellRatio))
  const right = layout === 'image' ? none : { width: width - left - 1, height: body }
  return { body, left, image, transcript: body - image, panels: right }
}

function Headline({ item: sessionId, at, width }: ViewProps<string> & { readonly at: View }) {
  const theme = useTheme()
  const { name, title = '', url = '' } = at.session ?? {}
  return (
    <Text wrap="truncate">
      <Text bold>{` ${cut(plain(name ?? sessionId), 26)} `}</Text>
      <Text color={at.closed === null ? theme.good : theme.bad}>{at.state}</Text>
      {at.recording.isOn && <Text color={theme.bad}>{` ● recording ${at.recording.count}`}</Text>}
      <Text dimColor>{`  ${cut(plain(title ? `${title} — ${url}` : url), Math.max(0, width - 30))}`}</Text>
    </Text>
  )
}
