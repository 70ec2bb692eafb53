/** The last of what was typed and of what came of it. */
import { Box, Text } from 'ink'
import { useTheme } from '../hooks/house.ts'
import type { Entry } from '../hooks/use-transcript.ts'
import { wrap } from '../terminal/plain.ts'

interface TranscriptProps {
  readonly entries: readonly Entry[]
  readonly width: number
  readonly height: number
}

interface Line {
  readonly text: string
  readonly mood: 'typed' | 'said' | 'failed'
}

export function Transcript({ entries, width, height }: TranscriptProps) {
  const theme = useTheme()
  // More entries than lines cannot be seen.
  const lines = entries.slice(-height).flatMap((entry) => linesOf(entry, width - 2))
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden" justifyContent="flex-end">
      {lines.slice(-height).map(({ text, mood }, at) => (
        <Text key={at} wrap="truncate" bold={mood === 'typed'} color={mood === 'failed' ? theme.bad : undefined}>
          {` ${text}`}
        </Text>
      ))}
    </Box>
  )
}

function linesOf({ line, state, text }: Entry, width: number): Line[] {
  const sign = { running: '…', done: '✓', failed: '✗' }[state]
  const said = text === '' ? [] : wrap(text, width)
  return [
    { text: `${sign} ${line}`, mood: 'typed' },
    ...said.map((part) => ({ text: part, mood: state === 'failed' ? ('failed' as const) : ('said' as const) })),
  ]
}

/** All of it, to be read in a pager. */
export const transcriptText = (entries: readonly Entry[]): string =>
  entries.map(({ line, text }) => `> ${line}${text ? `\n${text}` : ''}`).join('\n')
