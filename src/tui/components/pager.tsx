/** Long text to read: lines that are scrolled and searched. */
import { Box, Text } from 'ink'
import { useMemo, useState } from 'react'
import { useKeys } from '../hooks/use-keys.ts'
import type { Binding } from '../keyboard.ts'
import { cut, plain, wrap } from '../terminal/plain.ts'
import { Prompt } from './prompt.tsx'

interface PagerProps {
  readonly title: string
  readonly text: string
  readonly width: number
  readonly height: number
  readonly active?: boolean
  /** Long lines are cut instead of broken. */
  readonly cuts?: boolean
  /** Begins at the end and stays there while text is added. */
  readonly follow?: boolean
  readonly onClose?: () => void
  /** More keys for as long as it is read. */
  readonly actions?: readonly Binding[]
}

export function Pager(props: PagerProps) {
  const { title, text, width, height, cuts = false } = props
  const lines = useMemo(
    () => (cuts ? text.split('\n').map((line) => cut(plain(line), width)) : wrap(text, width)),
    [text, width, cuts],
  )
  const shown = Math.max(1, height - 1)
  const { top, isSearching, search, stopSearching } = usePlace(lines, shown, props)
  const last = Math.max(1, lines.length - shown)
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden">
      {isSearching ? (
        <Prompt label="search: " width={width} onCancel={stopSearching} onSubmit={search} />
      ) : (
        <Text bold wrap="truncate">
          {title}
          <Text dimColor>{lines.length > shown && `  ${Math.round((top / last) * 100)} %`}</Text>
        </Text>
      )}
      <Text wrap="truncate">
        {lines
          .slice(top, top + shown)
          .map((line) => line || ' ')
          .join('\n')}
      </Text>
    </Box>
  )
}

/** The first line that is shown, and the keys that change it. */
function usePlace(lines: readonly string[], shown: number, props: PagerProps) {
  const { title, active = true, follow = false, onClose, actions = [] } = props
  const [at, setAt] = useState<number | null>(follow ? null : 0)
  const [isSearching, setSearching] = useState(false)
  const [wanted, setWanted] = useState('')
  const last = Math.max(0, lines.length - shown)
  const top = at === null ? last : Math.min(at, last)
  const go = (to: number) => setAt(follow && to >= last ? null : Math.max(0, Math.min(last, to)))
  const find = (text: string, from: number, step: 1 | -1) => {
    const needle = text.toLowerCase()
    for (let count = 0, line = from; needle !== '' && count < lines.length; count += 1, line += step) {
      const index = (line + lines.length * 2) % lines.length
      if (lines[index]!.toLowerCase().includes(needle)) return go(index)
    }
  }
  const bindings: Binding[] = [
    { keys: ['down', 'j'], does: 'down', run: () => go(top + 1) },
    { keys: ['up', 'k'], does: 'up', run: () => go(top - 1) },
    { keys: ['pagedown', ' ', 'ctrl+f'], does: 'a page down', run: () => go(top + shown) },
    { keys: ['pageup', 'b', 'ctrl+b'], does: 'a page up', run: () => go(top - shown) },
    { keys: ['g', 'home'], does: 'to the beginning', run: () => go(0) },
    { keys: ['G', 'end'], does: 'to the end', run: () => go(last) },
    { keys: ['/'], does: 'search', run: () => setSearching(true) },
    { keys: ['n'], does: 'the next match', run: () => find(wanted, top + 1, 1) },
    { keys: ['N'], does: 'the match before', run: () => find(wanted, top - 1, -1) },
    ...actions,
    ...(onClose ? [{ keys: ['escape', 'backspace'], does: 'back', run: onClose }] : []),
  ]
  useKeys('panel', { title, bindings }, active && !isSearching)
  return {
    top,
    isSearching,
    stopSearching: () => setSearching(false),
    search(text: string) {
      setSearching(false)
      setWanted(text)
      find(text, top, 1)
    },
  }
}
