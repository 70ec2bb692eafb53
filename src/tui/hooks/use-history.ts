import { useCallback, useState } from 'react'
import { History } from '../history.ts'
import { useHouse } from './house.ts'

interface Typed {
  /** The oldest line first. */
  readonly history: readonly string[]
  /** Rejects when it cannot be kept for the next time. */
  readonly remember: (line: string) => Promise<void>
}

/** Lines that were typed before, in this terminal and in others. */
export function useHistory(): Typed {
  const { desk } = useHouse()
  const [history] = useState(() => new History(desk.historyFile))
  const [lines, setLines] = useState(history.lines)
  const remember = useCallback(
    (line: string) => {
      const kept = history.add(line)
      setLines(history.lines)
      return kept
    },
    [history],
  )
  return { history: lines, remember }
}
