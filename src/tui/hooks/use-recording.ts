/** Records typed commands as the steps of a script, from the start of a recording until it is saved. */
import { useState } from 'react'
import type { TypedCommand } from '../host.ts'
import { useAppContext } from './app-context.ts'

/** Stable selectors by element ref: they match the same element after a reload. */
type StableSelectors = ReadonlyMap<string, string>

export class Recording {
  readonly commands: TypedCommand[] = []
  readonly #start: string

  /** `start` is the URL of the page at the start of the recording. */
  constructor(start: string) {
    this.#start = start
  }

  add(commands: readonly TypedCommand[], stable: StableSelectors): void {
    for (const { command, data } of commands) this.commands.push({ command, data: withStableSelectors(data, stable) })
  }

  /** Returns the steps, preceded by opening the start page unless the first step opens a page. */
  steps(): TypedCommand[] {
    const opens = this.commands[0]?.command === 'navigate_to' || !/^https?:/.test(this.#start)
    return opens ? this.commands : [{ command: 'navigate_to', data: { url: this.#start } }, ...this.commands]
  }
}

/** Replaces refs, which are valid for one observation only, by stable selectors. */
function withStableSelectors(data: TypedCommand['data'], stable: StableSelectors): TypedCommand['data'] {
  const replaced = (value: unknown): unknown =>
    typeof value === 'string' && value.startsWith('ref=') ? (stable.get(value.slice(4)) ?? value) : value
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, replaced(value)]))
}

export function useRecording(stable: () => StableSelectors) {
  const { notify } = useAppContext()
  const [running, setRunning] = useState<Recording | null>(null)
  const [toSave, setToSave] = useState<Recording | null>(null)
  const [count, setCount] = useState(0)
  return {
    isOn: running !== null,
    count,
    /** A stopped recording that has not been saved yet. */
    toSave,
    start: (page: string) => {
      setRunning(new Recording(page))
      setCount(0)
    },
    stop: () => {
      setRunning(null)
      if (running && running.commands.length > 0) setToSave(running)
      else notify('nothing was recorded')
    },
    forget: () => setToSave(null),
    /** Captures the current selectors; returns a function that records commands once they have succeeded. */
    prepare: () => {
      const selectors = stable()
      return (commands: readonly TypedCommand[]) => {
        if (!running) return
        running.add(commands, selectors)
        setCount(running.commands.length)
      }
    },
  }
}
