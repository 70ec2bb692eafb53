/** What was typed in a session's view, with what came of it. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { asBaxError } from '../../core/errors/errors.ts'
import type { TypedCommand } from '../desk.ts'
import { splitWords } from '../words.ts'
import { useHouse } from './house.ts'

export interface Entry {
  readonly number: number
  readonly line: string
  readonly state: 'running' | 'done' | 'failed'
  readonly text: string
}

interface Transcript {
  readonly entries: readonly Entry[]
  /** Runs a line; what `prepare` returned before it ran hears of the commands when they have worked. */
  readonly run: (line: string) => void
}

/** Entries that are kept. */
const most = 200

type Prepare = () => (commands: readonly TypedCommand[]) => void

export function useTranscript(sessionId: string, prepare: Prepare): Transcript {
  const { desk, link } = useHouse()
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const count = useRef(0)
  const [ended] = useState(() => new AbortController())
  const preparing = useRef(prepare)
  useEffect(() => {
    preparing.current = prepare
  })
  useEffect(() => () => ended.abort(), [ended])
  const run = useCallback(
    (line: string) => {
      const number = (count.current += 1)
      const put = (entry: Omit<Entry, 'number' | 'line'>) =>
        setEntries((before) =>
          [...before.filter((old) => old.number !== number), { number, line, ...entry }].slice(-most),
        )
      const onSuccess = preparing.current()
      const work = async () => {
        put({ state: 'running', text: '' })
        try {
          const { words, open } = splitWords(line)
          if (open) return put({ state: 'failed', text: `a ${open} is not closed` })
          const typed = desk.parse(words)
          const { success, text } = await link.watched(() => typed.run(desk.join, sessionId, ended.signal))
          if (success) onSuccess(typed.commands)
          put({ state: success ? 'done' : 'failed', text })
        } catch (error) {
          if (ended.signal.aborted) return
          const { message, hint } = asBaxError(error)
          put({ state: 'failed', text: hint ? `${message}\n${hint}` : message })
        }
      }
      void work()
    },
    [desk, link, sessionId, ended],
  )
  return { entries: entries.toSorted((a, b) => a.number - b.number), run }
}
