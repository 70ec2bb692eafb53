/** The help: all keys that are currently bound. */
import { Box, Text } from 'ink'
import { useAppContext, useKeys } from '../hooks/app-context.ts'
import { type Layer, keyLabel } from '../keyboard.ts'
import { fit } from '../terminal/plain.ts'

interface HelpProps {
  /** Layers that were active when the help was opened. */
  readonly layers: readonly Layer[]
  readonly width: number
  readonly height: number
  readonly onClose: () => void
}

const cellWidth = 38

export function Help({ layers, width, height, onClose }: HelpProps) {
  const { theme } = useAppContext()
  useKeys('dialog', {
    title: 'Help',
    isModal: true,
    bindings: [{ keys: ['escape', '?', 'q', 'enter'], label: 'close the help', run: onClose }],
  })
  const across = Math.max(1, Math.floor(width / cellWidth))
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden" paddingX={1}>
      {layers.map(({ title, bindings }, at) => (
        <Box key={at} flexDirection="column" marginBottom={1} flexShrink={0}>
          <Text bold color={theme.accent}>
            {title}
          </Text>
          {rowsOf(bindings, across).map((row, line) => (
            <Text key={line} wrap="truncate">
              {row
                .map(({ keys, label }) =>
                  fit(`${fit(keys.slice(0, 2).map(keyLabel).join(' '), 11)} ${label}`, cellWidth),
                )
                .join('')}
            </Text>
          ))}
        </Box>
      ))}
      <Text dimColor>Esc closes the help, ^Z suspends bax, ^C quits. Click rows and the page; Shift selects text.</Text>
    </Box>
  )
}

function rowsOf<Item>(items: readonly Item[], across: number): Item[][] {
  const rows: Item[][] = []
  for (let at = 0; at < items.length; at += across) rows.push(items.slice(at, at + across))
  return rows
}
