/**
 * The terminal UI: a row of screens, one of which is shown, between a header and a line that says what keys do.
 *
 * How a screen is added: write a component of `ScreenProps` (its room in cells, and whether something covers it) in
 * `screens/`, and put it into `screens` below. Inside it
 * - ask the engine with `useAsk(operation, input, {every})` and follow it with `useFrames({stream, input, onFrames})`: both stop
 *   when the screen is left and go on by themselves when an engine that was gone is back; `useHouse().link.ask` does one call;
 * - list things with `Table`, show text with `Pager`, ask for a line with `Prompt` and for a yes with `Confirm`;
 * - say what keys do with `useKeys(level, {title, bindings})`: the help and the last line are made from it. Keys that list rows
 *   and text have already are theirs (arrows, page keys, j k g G, / n N in text); 1 to 9, ?, q and ^C are taken here;
 * - tell the user something in the last line with `useHouse().say`; hand over the terminal with `useHouse().away`.
 * Text of pages and programs goes through `plain`, which the components do by themselves.
 */
import { Box, useInput } from 'ink'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { Away, Footer, Header } from './components/frame.tsx'
import { Help } from './components/help.tsx'
import type { Desk } from './desk.ts'
import { type House, HouseContext, useHouse, useLink } from './hooks/house.ts'
import { useKeys } from './hooks/use-keys.ts'
import { useSize } from './hooks/use-size.ts'
import { type Keyboard, type Layer, pressesOf } from './keyboard.ts'
import type { Link } from './link.ts'
import type { Graphics } from './picture/graphics.ts'
import { Engine } from './screens/engine.tsx'
import { Jobs } from './screens/jobs.tsx'
import { Relay } from './screens/relay.tsx'
import type { ScreenProps } from './screens/screen-props.ts'
import { Shell } from './screens/shell.tsx'
import { Sessions } from './screens/sessions.tsx'
import type { Screen } from './terminal/screen.ts'
import { themeOf } from './theme.ts'

const screens: readonly { readonly name: string; readonly Screen: (props: ScreenProps) => React.ReactNode }[] = [
  { name: 'Sessions', Screen: Sessions },
  { name: 'Relay', Screen: Relay },
  { name: 'Shell', Screen: Shell },
  { name: 'Jobs', Screen: Jobs },
  { name: 'Engine', Screen: Engine },
]

/** Milliseconds for which something that was said stays. */
const saidMs = 10_000

export interface AppProps {
  readonly desk: Desk
  readonly link: Link
  readonly keyboard: Keyboard
  readonly screen: Screen
  readonly graphics: Graphics
  readonly away: House['away']
  readonly quit: () => void
}

export function App({ desk, link, keyboard, screen, graphics, away, quit }: AppProps) {
  const [said, setSaid] = useState<{ text: string; mood?: 'good' | 'bad' | undefined } | null>(null)
  const timer = useRef<NodeJS.Timeout | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const house = useMemo<House>(
    () => ({
      desk,
      link,
      keyboard,
      screen,
      graphics,
      theme: themeOf(graphics.depth),
      away,
      quit,
      say(text, mood) {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => setSaid(null), saidMs)
        setSaid({ text, mood })
      },
    }),
    [desk, link, keyboard, screen, graphics, away, quit],
  )
  useInput((input, key) => keyboard.feed(pressesOf(input, key)))
  return (
    <HouseContext.Provider value={house}>
      <Rooms said={said} />
    </HouseContext.Provider>
  )
}

function Rooms({ said }: { readonly said: { text: string; mood?: 'good' | 'bad' | undefined } | null }) {
  const { keyboard, link, quit } = useHouse()
  const { is, epoch } = useLink()
  const { columns, rows } = useSize()
  const [current, setCurrent] = useState(0)
  const [help, setHelp] = useState<readonly Layer[] | null>(null)
  useSyncExternalStore(keyboard.subscribe, keyboard.changes)
  useKeys('program', {
    title: 'bax',
    bindings: [
      ...screens.map(({ name }, at) => ({ keys: [String(at + 1)], does: name, run: () => setCurrent(at) })),
      { keys: ['?'], does: 'keys', run: () => setHelp(keyboard.hearing) },
      ...(is === 'up' ? [] : [{ keys: ['R'], does: 'try now, or start an engine', run: () => link.retry() }]),
      { keys: ['q'], does: 'leave', run: quit },
    ],
  })
  const height = Math.max(1, rows - 2)
  const { Screen: Shown } = screens[current]!
  // What was shown stays while the engine is away; before there was one, there is nothing.
  const isEmpty = epoch === 0
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Header screens={screens} current={current} width={columns} />
      {help && <Help layers={help} width={columns} height={height} onClose={() => setHelp(null)} />}
      {isEmpty && !help && <Away width={columns} height={height} />}
      <Box display={help || isEmpty ? 'none' : 'flex'} width={columns} height={height} overflow="hidden">
        {!isEmpty && <Shown width={columns} height={height} covered={help !== null || is !== 'up'} />}
      </Box>
      <Footer said={said ?? lostNote(is, isEmpty)} layers={keyboard.hearing} width={columns} />
    </Box>
  )
}

const lostNote = (is: ReturnType<Link['state']>['is'], isEmpty: boolean) => {
  if (is === 'up' || isEmpty) return null
  const text = is === 'stopped' ? 'the engine was stopped: R starts one' : 'the engine is gone; trying to come back'
  return { text, mood: 'bad' as const }
}
