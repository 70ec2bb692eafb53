/** One session: its page as it looks, what happens in it, and a line to drive it with. */
import { Box, Text } from 'ink'
import { useMemo, useState } from 'react'
import { CommandLine } from '../components/command-line.tsx'
import { Pager } from '../components/pager.tsx'
import { PictureBox } from '../components/picture-box.tsx'
import { Transcript, transcriptText } from '../components/transcript.tsx'
import { useHouse, useTheme } from '../hooks/house.ts'
import { useAsk } from '../hooks/use-ask.ts'
import { useHistory } from '../hooks/use-history.ts'
import { useKeys } from '../hooks/use-keys.ts'
import { useObservation } from '../hooks/use-observation.ts'
import { useRecording } from '../hooks/use-recording.ts'
import { useSessionEvents } from '../hooks/use-session-events.ts'
import { useTranscript } from '../hooks/use-transcript.ts'
import { cut, plain } from '../terminal/plain.ts'
import type { ScreenProps } from './screen-props.ts'
import { SaveRecording } from './save-recording.tsx'
import { EventsPanel, PagePanel, type Panel, PanelBar, panels, StoragePanel, TabsPanel } from './session-panels.tsx'

/** Milliseconds between looks at the session's record. */
const every = 2000

/** Ways to share the room between picture and words. */
const views = ['both', 'picture', 'words'] as const

interface SessionViewProps extends ScreenProps {
  readonly sessionId: string
  readonly onClose: () => void
}

export function SessionView(props: SessionViewProps) {
  const { width, height, sessionId } = props
  const at = useSessionView(props)
  if (at.isReading)
    return (
      <Pager
        title="Results"
        text={transcriptText(at.transcript.entries) || 'nothing was typed yet'}
        width={width}
        height={height}
        follow
        onClose={at.stopReading}
      />
    )
  const room = roomOf(width, height, at.view)
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Headline
        name={at.session?.name ?? sessionId}
        state={at.state}
        isOver={at.closed !== null}
        page={at.session ? `${at.session.title ? `${at.session.title} — ` : ''}${at.session.url}` : ''}
        recorded={at.recording.isOn ? at.recording.count : null}
        width={width}
      />
      <PictureAndWords {...props} at={at} room={room} />
      <Transcript entries={at.transcript.entries} width={width} height={room.transcript} />
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

/** What the view shows, and what its keys do. */
function useSessionView({ sessionId, onClose }: SessionViewProps) {
  const { say } = useHouse()
  const { answer: session, error } = useAsk('getSession', { session_id: sessionId }, { every })
  const { events, closed, changes } = useSessionEvents(sessionId)
  const [panel, setPanel] = useState<Panel>('events')
  const [view, setView] = useState<(typeof views)[number]>('both')
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
      { keys: ['i', ':', 'enter'], does: 'type a command', run: () => setTyping(true) },
      { keys: ['tab'], does: 'the next panel', run: () => setPanel(beside(panels, panel, 1)) },
      { keys: ['shift+tab'], does: 'the panel before', run: () => setPanel(beside(panels, panel, -1)) },
      { keys: ['z'], does: 'picture, words, both', run: () => setView(beside(views, view, 1)) },
      { keys: ['r'], does: recording.isOn ? 'end the recording' : 'record', run: record },
      { keys: ['o'], does: 'read all results', run: () => setReading(true) },
      { keys: ['u'], does: 'look again', run: observed.look },
      { keys: ['escape', 'q'], does: 'back to the list', run: onClose },
    ],
  })
  return {
    session,
    state: closed === null ? (error && !session ? error.message : (session?.status ?? '…')) : `ended: ${closed}`,
    events,
    closed,
    panel,
    view,
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
      remember(line).catch((failure: Error) => say(`the line was not kept: ${failure.message}`, 'bad'))
      transcript.run(line)
    },
  }
}

interface PictureAndWordsProps extends SessionViewProps {
  readonly at: View
  readonly room: ReturnType<typeof roomOf>
}

function PictureAndWords({ width, covered, sessionId, at, room }: PictureAndWordsProps) {
  const { panel, observed } = at
  const box = {
    width: room.words,
    height: room.body - 1,
    active: !at.isTyping && at.recording.toSave === null,
  }
  return (
    <Box width={width} height={room.body}>
      {room.picture > 0 && (
        <PictureBox
          sessionId={sessionId}
          width={room.picture}
          height={room.body}
          covered={covered || at.closed !== null}
        />
      )}
      {room.words > 0 && (
        <Box flexDirection="column" width={room.words} height={room.body} marginLeft={room.picture > 0 ? 1 : 0}>
          <PanelBar shown={panel} width={room.words} />
          {panel === 'events' && <EventsPanel events={at.events} {...box} />}
          {panel === 'page' && <PagePanel {...observed} {...box} />}
          {panel === 'storage' && <StoragePanel {...observed} {...box} />}
          {panel === 'tabs' && <TabsPanel {...observed} {...box} />}
        </Box>
      )}
    </Box>
  )
}

const beside = <Item,>(items: readonly Item[], item: Item, step: 1 | -1): Item =>
  items[(items.indexOf(item) + step + items.length) % items.length]!

/** Shares the terminal between the parts of the view. */
function roomOf(width: number, height: number, view: (typeof views)[number]) {
  const transcript = Math.max(3, Math.floor((height - 3) * 0.25))
  const body = Math.max(4, height - 3 - transcript)
  // A page is about twice as wide in cells as it is high; more room than that is for words.
  const fitting = Math.min(Math.floor(width * 0.6), Math.max(Math.floor(width / 2), Math.floor(body * 3.6)))
  const picture = view === 'words' ? 0 : view === 'picture' ? width : fitting
  return { transcript, body, picture, words: view === 'picture' ? 0 : width - picture - (picture > 0 ? 1 : 0) }
}

interface HeadlineProps {
  readonly name: string
  readonly state: string
  readonly isOver: boolean
  readonly page: string
  readonly recorded: number | null
  readonly width: number
}

function Headline({ name, state, isOver, page, recorded, width }: HeadlineProps) {
  const theme = useTheme()
  const text = useMemo(() => plain(page), [page])
  return (
    <Text wrap="truncate">
      <Text bold>{` ${cut(plain(name), 26)} `}</Text>
      <Text color={isOver ? theme.bad : theme.good}>{state}</Text>
      {recorded !== null && <Text color={theme.bad}>{` ● recording ${recorded}`}</Text>}
      <Text dimColor>{`  ${cut(text, Math.max(0, width - 30))}`}</Text>
    </Text>
  )
}
