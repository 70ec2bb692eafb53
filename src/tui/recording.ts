/** What is typed while a recording runs, as steps that can be run again. */
import type { TypedCommand } from './desk.ts'

/** A selector that names the same element after a reload, by the reference that an observation gave it. */
export type LastingSelectors = ReadonlyMap<string, string>

export class Recording {
  readonly commands: TypedCommand[] = []
  readonly #start: string

  /** `start` is the address of the page on which it began. */
  constructor(start: string) {
    this.#start = start
  }

  add(commands: readonly TypedCommand[], lasting: LastingSelectors): void {
    for (const { command, data } of commands) this.commands.push({ command, data: withLasting(data, lasting) })
  }

  /** The steps, begun where the recording began. */
  steps(): TypedCommand[] {
    const opens = this.commands[0]?.command === 'navigate_to' || !/^https?:/.test(this.#start)
    return opens ? this.commands : [{ command: 'navigate_to', data: { url: this.#start } }, ...this.commands]
  }
}

/** References are of one look at one page: a script names elements by what lasts. */
function withLasting(data: TypedCommand['data'], lasting: LastingSelectors): TypedCommand['data'] {
  const better = (value: unknown): unknown =>
    typeof value === 'string' && value.startsWith('ref=') ? (lasting.get(value.slice(4)) ?? value) : value
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, better(value)]))
}
