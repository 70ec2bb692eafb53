/** Records typed commands from the start of a recording until it is saved. */
import { useState } from 'react'
import type { TypedCommand } from '../host.ts'
import { type StableSelectors, Recording } from '../recording.ts'
import { useAppContext } from './app-context.ts'

interface Recorder {
  readonly isOn: boolean
  readonly count: number
  /** A stopped recording that has not been saved yet. */
  readonly toSave: Recording | null
  readonly start: (page: string) => void
  readonly stop: () => void
  readonly forget: () => void
  /** Captures the current selectors; returns a function that records commands once they have succeeded. */
  readonly prepare: () => (commands: readonly TypedCommand[]) => void
}

export function useRecording(stable: () => StableSelectors): Recorder {
  const { notify } = useAppContext()
  const [running, setRunning] = useState<Recording | null>(null)
  const [toSave, setToSave] = useState<Recording | null>(null)
  const [count, setCount] = useState(0)
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
      else notify('nothing was recorded')
    },
    forget: () => setToSave(null),
    prepare: () => {
      const selectors = stable()
      return (commands) => {
        if (!running) return
        running.add(commands, selectors)
        setCount(running.commands.length)
      }
    },
  }
}
