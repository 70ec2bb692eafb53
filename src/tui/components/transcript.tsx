/** The lines typed in a session's view with their results. */
import { Box, Text } from 'ink'
import { useEffect, useRef, useState } from 'react'
import { asBaxError } from '../../core/errors/errors.ts'
import { useAppContext, useTheme } from '../hooks/app-context.ts'
import type { TypedCommand } from '../host.ts'
import { splitWords } from '../../core/text/shell-words.ts'
import { wrap } from '../terminal/plain.ts'

interface Entry {
  readonly number: number
  readonly line: string
  readonly state: 'running' | 'done' | 'failed'
  readonly text: string
}

const maxEntries = 200

/**
 * Keeps the last entries, and runs lines. The function that `prepare` returns before a line is run receives the commands
 * when they have succeeded.
 */
export function useTranscript(sessionId: string, prepare: () => (commands: readonly TypedCommand[]) => void) {
  const { host, link } = useAppContext()
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const count = useRef(0)
  const [ended] = useState(() => new AbortController())
  useEffect(() => () => ended.abort(), [ended])
  const run = async (line: string) => {
    const number = (count.current += 1)
    const put = (entry: Omit<Entry, 'number' | 'line'>) =>
      setEntries((before) =>
        [...before.filter((old) => old.number !== number), { number, line, ...entry }].slice(-maxEntries),
      )
    const onSuccess = prepare()
    put({ state: 'running', text: '' })
    try {
      const { words, open } = splitWords(line)
      if (open) return put({ state: 'failed', text: `missing closing ${open}` })
      const typed = host.parse(words)
      const { success, text } = await link.withReconnect(() => typed.run(host.transport, sessionId, ended.signal))
      if (success) onSuccess(typed.commands)
      put({ state: success ? 'done' : 'failed', text })
    } catch (error) {
      if (ended.signal.aborted) return
      const { message, hint } = asBaxError(error)
      put({ state: 'failed', text: hint ? `${message}\n${hint}` : message })
    }
  }
  return { entries: entries.toSorted((a, b) => a.number - b.number), run: (line: string) => void run(line) }
}

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
