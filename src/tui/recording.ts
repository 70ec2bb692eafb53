/** Records typed commands as the steps of a script. */
import type { TypedCommand } from './host.ts'

/** Stable selectors by element ref: they match the same element after a reload. */
export type StableSelectors = ReadonlyMap<string, string>

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
