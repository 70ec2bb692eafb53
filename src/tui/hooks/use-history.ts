import { useState } from 'react'
import { History } from '../history.ts'
import { useAppContext } from './app-context.ts'

interface LineHistory {
  /** Lines, oldest first. */
  readonly history: readonly string[]
  /** Adds a line; rejects when it cannot be stored. */
  readonly remember: (line: string) => Promise<void>
}

/** Returns the history of typed lines of this terminal and others. */
export function useHistory(): LineHistory {
  const { host } = useAppContext()
  const [history] = useState(() => new History(host.historyFile))
  const [lines, setLines] = useState(history.lines)
  const remember = (line: string) => {
    const stored = history.add(line)
    setLines(history.lines)
    return stored
  }
  return { history: lines, remember }
}
