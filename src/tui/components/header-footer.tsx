/** The header and the footer around every screen, and the message shown without an engine. */
import { Box, Text } from 'ink'
import { useAppContext, useLink } from '../hooks/app-context.ts'
import { type Layer, keyLabel } from '../keyboard.ts'
import { plain } from '../../core/text/plain.ts'
import { cut, widthOf } from '../terminal/plain.ts'

interface HeaderProps {
  readonly screens: readonly { readonly name: string }[]
  readonly current: number
  readonly width: number
}

export function Header({ screens, current, width }: HeaderProps) {
  const { host, theme } = useAppContext()
  const { is } = useLink()
  const state = { opening: 'connecting', up: 'connected', lost: 'reconnecting', stopped: 'stopped' }[is]
  const colour = is === 'up' ? theme.good : is === 'opening' ? theme.notable : theme.bad
  const home = plain(host.home.name)
  const needed = screens.reduce((sum, { name }) => sum + widthOf(name) + 4, widthOf(` bax ● ${state} `))
  const gap = needed > width ? '' : ' '
  return (
    <Box width={width} justifyContent="space-between">
      <Box flexShrink={0}>
        <Text bold> bax </Text>
        {screens.map(({ name }, at) => (
          <Text key={name} inverse={at === current} bold={at === current}>
            {` ${at + 1} ${name}${gap}`}
          </Text>
        ))}
      </Box>
      <Text wrap="truncate">
        <Text dimColor>{width >= 100 ? `${home} ` : ''}</Text>
        <Text color={colour}>{gap ? `● ${state} ` : ` ● ${state}`}</Text>
      </Text>
    </Box>
  )
}

/** A short message for the user. */
export interface Notice {
  readonly text: string
  readonly mood?: 'good' | 'bad' | undefined
}

interface FooterProps {
  readonly notice: Notice | null
  readonly layers: readonly Layer[]
  readonly width: number
}

/** Common keys, which the footer does not list. */
const commonKeys = new Set(['up', 'down', 'pageup', 'pagedown', 'g', 'G', 'left', 'right', 'home', 'end', 'backspace'])

export function Footer({ notice, layers, width }: FooterProps) {
  const { theme } = useAppContext()
  if (notice)
    return (
      <Text wrap="truncate" color={notice.mood && theme[notice.mood]}>
        {` ${cut(plain(notice.text), width - 2)}`}
      </Text>
    )
  const hints: string[] = []
  // In a text input a question mark is text.
  const isWriting = layers.some(({ onText }) => onText !== undefined)
  const bindings = layers.flatMap((layer) => layer.bindings)
  // The way back is always shown.
  const back = bindings.find(({ keys }) => keys[0] === 'escape')
  const last = [...(back ? [`Esc ${back.label}`] : []), ...(isWriting ? [] : ['? keys'])]
  let room = width - 2 - last.reduce((sum, hint) => sum + widthOf(hint) + 3, 0)
  for (const { keys, label } of bindings) {
    if (commonKeys.has(keys[0]!) || keys[0] === '?' || keys[0] === 'escape') continue
    const hint = `${keyLabel(keys[0]!)} ${label}`
    room -= widthOf(hint) + 3
    if (room < 0) break
    hints.push(hint)
  }
  return (
    <Text dimColor wrap="truncate">
      {` ${[...hints, ...last].join(' · ')}`}
    </Text>
  )
}

/** The message in place of a screen before the first connection. */
export function Disconnected({ width, height }: { readonly width: number; readonly height: number }) {
  const { theme } = useAppContext()
  const { is, problem } = useLink()
  const text = {
    opening: 'Connecting to the engine …',
    lost: 'The engine is unreachable. Reconnecting …',
    stopped: 'The engine was stopped. Press R to start it; bax also connects when another command starts it.',
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
