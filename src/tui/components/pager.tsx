/** A viewer for long text with scrolling and search. */
import { Box, type DOMElement, Text } from 'ink'
import { useMemo, useRef, useState } from 'react'
import { useKeys } from '../hooks/app-context.ts'
import { useMouse } from '../hooks/use-mouse.ts'
import type { Binding } from '../keyboard.ts'
import { plain } from '../../core/text/plain.ts'
import { cut, wrap } from '../terminal/plain.ts'
import { Prompt } from './prompt.tsx'

interface PagerProps {
  readonly title: string
  readonly text: string
  readonly width: number
  readonly height: number
  readonly active?: boolean
  /** Whether long lines are truncated instead of wrapped. */
  readonly cuts?: boolean
  /** Whether the view starts at the end and stays there while text is added. */
  readonly follow?: boolean
  readonly onClose?: () => void
  /** Additional keys. */
  readonly actions?: readonly Binding[]
}

/** Lines that a turn of the wheel moves. */
const wheelLines = 3

export function Pager(props: PagerProps) {
  const { title, text, width, height, cuts = false } = props
  const lines = useMemo(
    () => (cuts ? text.split('\n').map((line) => cut(plain(line), width)) : wrap(text, width)),
    [text, width, cuts],
  )
  const shown = Math.max(1, height - 1)
  const { top, go, isSearching, search, stopSearching } = useScrolling(lines, shown, props)
  const node = useRef<DOMElement>(null)
  useMouse(node, ({ kind }) => {
    if (kind !== 'press') go(top + (kind === 'wheel-up' ? -wheelLines : wheelLines))
  })
  const last = Math.max(1, lines.length - shown)
  return (
    <Box ref={node} flexDirection="column" width={width} height={height} overflow="hidden">
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

/** Returns the first visible line and the state of the search, and binds the keys that change them. */
function useScrolling(lines: readonly string[], shown: number, props: PagerProps) {
  const { title, active = true, follow = false, onClose, actions = [] } = props
  const [at, setAt] = useState<number | null>(follow ? null : 0)
  const [isSearching, setSearching] = useState(false)
  const [query, setQuery] = useState('')
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
    { keys: ['down', 'j'], label: 'down', run: () => go(top + 1) },
    { keys: ['up', 'k'], label: 'up', run: () => go(top - 1) },
    { keys: ['pagedown', ' ', 'ctrl+f'], label: 'page down', run: () => go(top + shown) },
    { keys: ['pageup', 'b', 'ctrl+b'], label: 'page up', run: () => go(top - shown) },
    { keys: ['g', 'home'], label: 'go to the start', run: () => go(0) },
    { keys: ['G', 'end'], label: 'go to the end', run: () => go(last) },
    { keys: ['/'], label: 'search', run: () => setSearching(true) },
    { keys: ['n'], label: 'next match', run: () => find(query, top + 1, 1) },
    { keys: ['N'], label: 'previous match', run: () => find(query, top - 1, -1) },
    ...actions,
    ...(onClose ? [{ keys: ['escape', 'backspace'], label: 'back', run: onClose }] : []),
  ]
  useKeys('panel', { title, bindings }, active && !isSearching)
  return {
    top,
    go,
    isSearching,
    stopSearching: () => setSearching(false),
    search(text: string) {
      setSearching(false)
      setQuery(text)
      find(text, top, 1)
    },
  }
}
