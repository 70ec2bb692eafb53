/** What stands around every screen: the row of screens above, what was said and what keys do below. */
import { Box, Text } from 'ink'
import { useHouse, useLink } from '../hooks/house.ts'
import { type Layer, spelled } from '../keyboard.ts'
import { cut, plain, widthOf } from '../terminal/plain.ts'

interface HeaderProps {
  readonly screens: readonly { readonly name: string }[]
  readonly current: number
  readonly width: number
}

export function Header({ screens, current, width }: HeaderProps) {
  const { desk, theme } = useHouse()
  const { is } = useLink()
  const state = { opening: 'connecting', up: 'connected', lost: 'lost, coming back', stopped: 'stopped' }[is]
  const colour = is === 'up' ? theme.good : is === 'opening' ? theme.notable : theme.bad
  const home = plain(desk.home.name)
  return (
    <Box width={width} justifyContent="space-between">
      <Box flexShrink={0}>
        <Text bold> bax </Text>
        {screens.map(({ name }, at) => (
          <Text key={name}>
            <Text inverse={at === current} bold={at === current}>
              {` ${at + 1} ${name} `}
            </Text>
          </Text>
        ))}
      </Box>
      <Text wrap="truncate">
        <Text dimColor>{width >= 100 ? `${home} ` : ''}</Text>
        <Text color={colour}>{`● ${state} `}</Text>
      </Text>
    </Box>
  )
}

interface FooterProps {
  readonly said: { readonly text: string; readonly mood?: 'good' | 'bad' | undefined } | null
  readonly layers: readonly Layer[]
  readonly width: number
}

/** Keys that need no telling. */
const known = new Set(['up', 'down', 'pageup', 'pagedown', 'g', 'G', 'left', 'right', 'home', 'end', 'backspace'])

export function Footer({ said, layers, width }: FooterProps) {
  const { theme } = useHouse()
  if (said)
    return (
      <Text wrap="truncate" color={said.mood === 'bad' ? theme.bad : said.mood === 'good' ? theme.good : undefined}>
        {` ${cut(plain(said.text), width - 2)}`}
      </Text>
    )
  const hints: string[] = []
  // Where one writes, a question mark is text.
  const isWriting = layers.some(({ onText }) => onText !== undefined)
  let room = width - 9
  for (const { keys, does } of layers.flatMap(({ bindings }) => bindings)) {
    if (known.has(keys[0]!) || keys[0] === '?') continue
    const hint = `${spelled(keys[0]!)} ${does}`
    room -= widthOf(hint) + 3
    if (room < 0) break
    hints.push(hint)
  }
  return (
    <Text dimColor wrap="truncate">
      {` ${[...hints, ...(isWriting ? [] : ['? keys'])].join(' · ')}`}
    </Text>
  )
}

/** Said in place of a screen while there is no engine. */
export function Away({ width, height }: { readonly width: number; readonly height: number }) {
  const { theme } = useHouse()
  const { is, problem } = useLink()
  const text = {
    opening: 'Looking for the engine …',
    lost: 'The engine is gone. Trying to come back …',
    stopped: 'The engine was stopped. Press R to start one; one that somebody else starts is found by itself.',
    up: '',
  }[is]
  return (
    <Box width={width} height={height} flexDirection="column" padding={1} overflow="hidden">
      <Text color={is === 'opening' ? undefined : theme.notable} bold>
        {text}
      </Text>
      {problem !== null && is !== 'opening' && <Text dimColor>{plain(problem)}</Text>}
    </Box>
  )
}
