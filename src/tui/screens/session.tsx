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
import { cut, plain } from '../terminal/plain.ts'
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
      <ImageAndPanels {...props} at={at} sizes={sizes} />
      <Transcript entries={at.transcript.entries} width={width} height={sizes.transcript} />
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

interface ImageAndPanelsProps extends ViewProps<string> {
  readonly at: View
  readonly sizes: ReturnType<typeof sizesOf>
}

function ImageAndPanels({ width, covered, item: sessionId, at, sizes }: ImageAndPanelsProps) {
  const { panel, observed } = at
  const { body, image, panels: panelWidth } = sizes
  const box = { width: panelWidth, height: body - 1, active: !at.isTyping && at.recording.toSave === null }
  return (
    <Box width={width} height={body}>
      {image > 0 && (
        <LiveImage sessionId={sessionId} width={image} height={body} covered={covered || at.closed !== null} />
      )}
      {panelWidth > 0 && (
        <Box flexDirection="column" width={panelWidth} height={body} marginLeft={image > 0 ? 1 : 0}>
          <Box width={panelWidth} height={1} overflow="hidden">
            <PanelBar panels={panels} shown={panel} />
          </Box>
          {panel === 'events' && <EventsPanel events={at.events} {...box} />}
          {panel !== 'events' && <ObservedPanel key={panel} panel={panel} {...observed} {...box} />}
        </Box>
      )}
    </Box>
  )
}

/** Divides the terminal among the parts of the view. */
function sizesOf(width: number, height: number, layout: (typeof layouts)[number]) {
  const transcript = Math.max(3, Math.floor((height - 3) * 0.25))
  const body = Math.max(4, height - 3 - transcript)
  // A 16:9 page is about 3.6 times as wide in cells as it is high; the panels get the remaining width.
  const fitting = Math.min(Math.floor(width * 0.6), Math.max(Math.floor(width / 2), Math.floor(body * 3.6)))
  const image = layout === 'panels' ? 0 : layout === 'image' ? width : fitting
  return { transcript, body, image, panels: layout === 'image' ? 0 : width - image - (image > 0 ? 1 : 0) }
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
