/** Finds browser commands by their names and other spellings, of one or two words. */
import type { PositionalForms } from '../core/operation/command.ts'
import { formsOf } from '../core/operation/positional.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'

/** A command that a name stands for. Several commands can have the same spelling: the arguments tell which is meant. */
export interface NamedCommand {
  readonly entry: CommandEntry
  /** Fields that the spelling sets. */
  readonly preset: Readonly<Record<string, unknown>>
  readonly forms: PositionalForms
}

/** `tab-new`, `tab_new` and `tab new` are the same name. */
const snake = (name: string): string => name.replaceAll(/[-\s]/g, '_').toLowerCase()

/** Returns the commands with a name or spelling, the one with this name first. */
export function commandsNamed(name: string, { commands }: Manifest): NamedCommand[] {
  const wanted = snake(name)
  return commands
    .flatMap((entry): NamedCommand[] => {
      const named = { entry, preset: {}, forms: formsOf(entry.params, entry.positional) }
      if (entry.name === wanted) return [named]
      return (entry.also ?? [])
        .filter(({ words }) => snake(words) === wanted)
        .map(({ data = {}, positional }) => {
          const open = entry.params.filter(({ name: field }) => !(field in data))
          const forms = positional ?? entry.positional?.filter((form) => !form.some((field) => field in data))
          return { entry, preset: data, forms: formsOf(open, forms) }
        })
    })
    .toSorted((a, b) => Number(b.entry.name === wanted) - Number(a.entry.name === wanted))
}

/** Returns the words that can follow the first word of a name or spelling of two words. */
export function secondWords(first: string, { commands }: Manifest): string[] {
  const names = commands.flatMap(({ name, also = [] }) => [name, ...also.map(({ words }) => words)])
  const found = names.flatMap((name) => {
    const [one, two, ...more] = name.split(/[_ ]/)
    return two !== undefined && more.length === 0 && one === snake(first) ? [two] : []
  })
  return [...new Set(found)].toSorted()
}
