/**
 * The terminal UI: one of several screens between a header and a footer with key hints.
 *
 * To add a screen, write a component with `ScreenProps` (size in cells, and whether something covers it) in `screens/`
 * and add it to `allEngines` below. Inside the component
 * - poll operations with `usePolling(operation, input, {every})` and follow streams with `useFrames({stream, …})`: both
 *   stop when the screen is left and resume after a reconnect; `useAppContext().link.call` sends a single call;
 * - show lists with `Table` and text with `Pager`, ask for a line with `Prompt` and for confirmation with `Confirm`;
 * - bind keys with `useKeys(level, {title, bindings})`, from which the help and the footer are generated. `Table` and
 *   `Pager` use the arrows, page keys, j k g G, and / n N in text; 1 to 9, ?, q and ^C are bound here;
 * - show a notice in the footer with `useAppContext().notify`; release the terminal with `useAppContext().suspend`.
 * The components pass text of pages and programs through `plain`.
 */
import { Box, useInput } from 'ink'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { Disconnected, Footer, Header, type Notice } from './components/header-footer.tsx'
import { Help } from './components/help.tsx'
import { type AppServices, AppContext, useAppContext, useKeys, useLink, useSize } from './hooks/app-context.ts'
import { type Layer, parseKeys } from './keyboard.ts'
import type { LinkState } from './link.ts'
import { usePolling } from './hooks/use-polling.ts'
import { Inbox, useInbox } from './screens/inbox.tsx'
import { Engine } from './screens/engine.tsx'
import { Fleet } from './screens/fleet.tsx'
import { Jobs } from './screens/jobs.tsx'
import { Relay } from './screens/relay.tsx'
import type { ScreenProps } from './components/list-page.tsx'
import { Shell } from './screens/shell.tsx'
import { Sessions } from './screens/sessions.tsx'
import { themeOf } from './theme.ts'

interface NamedScreen {
  readonly name: string
  readonly Screen: (props: ScreenProps) => React.ReactNode
}

const allEngines: readonly NamedScreen[] = [
  { name: 'Sessions', Screen: Sessions },
  { name: 'Relay', Screen: Relay },
  { name: 'Shell', Screen: Shell },
  { name: 'Jobs', Screen: Jobs },
  { name: 'Engine', Screen: Engine },
  { name: 'Inbox', Screen: Inbox },
]

const onlyGateways: readonly NamedScreen[] = [{ name: 'Fleet', Screen: Fleet }]

const noticeMs = 10_000

/** Everything of the app context that the caller provides. Only `graphics` changes later. */
export type AppProps = Omit<AppServices, 'theme' | 'notify'>

export function App(props: AppProps) {
  const { keyboard, graphics } = props
  const [notice, setNotice] = useState<Notice | null>(null)
  const timer = useRef<NodeJS.Timeout | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const context = useMemo<AppServices>(
    () => ({
      ...props,
      theme: themeOf(graphics.depth),
      notify(text, mood) {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => setNotice(null), noticeMs)
        setNotice({ text, mood })
      },
    }),
    [graphics],
  )
  useInput((input, key) => keyboard.feed(parseKeys(input, key)))
  return (
    <AppContext.Provider value={context}>
      <Layout notice={notice} />
    </AppContext.Provider>
  )
}

function Layout({ notice }: { readonly notice: Notice | null }) {
  const { keyboard, link, quit } = useAppContext()
  const { is, epoch } = useLink()
  const { columns, rows } = useSize()
  const screens = useScreens()
  const [chosen, setChosen] = useState(0)
  const current = Math.min(chosen, screens.length - 1)
  const [help, setHelp] = useState<readonly Layer[] | null>(null)
  useSyncExternalStore(keyboard.subscribe, keyboard.changes)
  useKeys('program', {
    title: 'bax',
    bindings: [
      ...screens.map(({ name }, at) => ({ keys: [String(at + 1)], label: name, run: () => setChosen(at) })),
      { keys: ['?'], label: 'keys', run: () => setHelp(keyboard.activeLayers) },
      ...(is === 'up' ? [] : [{ keys: ['R'], label: 'reconnect or start the engine', run: () => link.retry() }]),
      { keys: ['q'], label: 'quit', run: quit },
    ],
  })
  const height = Math.max(1, rows - 2)
  const { Screen: Shown } = screens[current]!
  // Data stays on the screen while the engine is unreachable; before the first connection there is none.
  const isEmpty = epoch === 0
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Header screens={screens} current={current} width={columns} />
      {help && <Help layers={help} width={columns} height={height} onClose={() => setHelp(null)} />}
      {isEmpty && !help && <Disconnected width={columns} height={height} />}
      <Box display={help || isEmpty ? 'none' : 'flex'} width={columns} height={height} overflow="hidden">
        {!isEmpty && <Shown width={columns} height={height} covered={help !== null || is !== 'up'} />}
      </Box>
      <Footer notice={notice ?? lostNotice(is, isEmpty)} layers={keyboard.activeLayers} width={columns} />
    </Box>
  )
}

/** Returns the screens of the engine, which has one more if it is a gateway. */
function useScreens(): readonly NamedScreen[] {
  const { answer, error } = usePolling('getFleet', {}, { every: 0 })
  const waiting = useInbox().items.length
  const isGateway = answer !== undefined || error?.code === 'fleet_unavailable'
  const screens = isGateway ? [...allEngines, ...onlyGateways] : allEngines
  if (waiting === 0) return screens
  return screens.map((screen) => (screen.Screen === Inbox ? { ...screen, name: `Inbox (${waiting})` } : screen))
}

function lostNotice(is: LinkState['is'], isEmpty: boolean): Notice | null {
  if (is === 'up' || isEmpty) return null
  const text =
    is === 'stopped' ? 'the engine was stopped; press R to start it' : 'the engine is unreachable; reconnecting'
  return { text, mood: 'bad' }
}
