/** The last typed lines with their results. */
import { Box, Text } from 'ink'
import { useTheme } from '../hooks/app-context.ts'
import type { Entry } from '../hooks/use-transcript.ts'
import { wrap } from '../terminal/plain.ts'

interface TranscriptProps {
  readonly entries: readonly Entry[]
  readonly width: number
  readonly height: number
}

interface Line {
  readonly text: string
  readonly mood: 'typed' | 'output' | 'failed'
}

export function Transcript({ entries, width, height }: TranscriptProps) {
  const theme = useTheme()
  // Each entry takes at least one line.
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
  const mark = { running: '…', done: '✓', failed: '✗' }[state]
  const mood = state === 'failed' ? 'failed' : 'output'
  const output = text === '' ? [] : wrap(text, width)
  return [{ text: `${mark} ${line}`, mood: 'typed' }, ...output.map((part) => ({ text: part, mood }) as const)]
}

/** Returns the whole transcript as text for the pager. */
export const transcriptText = (entries: readonly Entry[]): string =>
  entries.map(({ line, text }) => `> ${line}${text ? `\n${text}` : ''}`).join('\n')
