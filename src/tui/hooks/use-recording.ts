/** A recording of what is typed, from its start to its place on disk. */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { TypedCommand } from '../desk.ts'
import { type LastingSelectors, Recording } from '../recording.ts'
import { useHouse } from './house.ts'

interface Recorder {
  readonly isOn: boolean
  /** Commands so far. */
  readonly count: number
  /** A recording that has ended and waits for its name. */
  readonly toSave: Recording | null
  readonly start: (page: string) => void
  readonly stop: () => void
  readonly forget: () => void
  /** Remembers how the page is now; what it returns takes the commands when they have worked. */
  readonly prepare: () => (commands: readonly TypedCommand[]) => void
}

export function useRecording(lasting: () => LastingSelectors): Recorder {
  const { say } = useHouse()
  const [running, setRunning] = useState<Recording | null>(null)
  const [toSave, setToSave] = useState<Recording | null>(null)
  const [count, setCount] = useState(0)
  const selectors = useRef(lasting)
  useEffect(() => {
    selectors.current = lasting
  })
  const prepare = useCallback(() => {
    const known = selectors.current()
    return (commands: readonly TypedCommand[]) => {
      if (!running) return
      running.add(commands, known)
      setCount(running.commands.length)
    }
  }, [running])
  return {
    isOn: running !== null,
    count,
    toSave,
    start: (page) => {
      setRunning(new Recording(page))
      setCount(0)
    },
    stop: () => {
      setRunning(null)
      if (running && running.commands.length > 0) setToSave(running)
      else say('nothing was recorded')
    },
    forget: () => setToSave(null),
    prepare,
  }
}
