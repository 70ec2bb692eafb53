/** Runs the lines typed in a session's view, and keeps them with their results. */
import { useEffect, useRef, useState } from 'react'
import { asBaxError } from '../../core/errors/errors.ts'
import type { TypedCommand } from '../host.ts'
import { splitWords } from '../shell-words.ts'
import { useAppContext } from './app-context.ts'

export interface Entry {
  readonly number: number
  readonly line: string
  readonly state: 'running' | 'done' | 'failed'
  readonly text: string
}

interface Transcript {
  readonly entries: readonly Entry[]
  /** Runs a line; the function that `prepare` returned before receives the commands when they have succeeded. */
  readonly run: (line: string) => void
}

const maxEntries = 200

export function useTranscript(
  sessionId: string,
  prepare: () => (commands: readonly TypedCommand[]) => void,
): Transcript {
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
  return { entries: entries.toSorted((a, b) => a.number - b.number), run: (line) => void run(line) }
}
