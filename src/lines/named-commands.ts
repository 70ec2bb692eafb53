/** Finds browser commands by their names and other spellings, of one or two words. */
import { oncePer } from '../core/once-per.ts'
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
export const commandsNamed = (name: string, { commands }: Manifest): readonly NamedCommand[] =>
  namesOf(commands).get(snake(name)) ?? []

/** The commands by their names and spellings, which each line of a batch looks up several times. */
const namesOf = oncePer((commands: readonly CommandEntry[]) => {
  const byName = new Map<string, NamedCommand[]>()
  const add = (name: string, command: NamedCommand) => byName.set(name, [...(byName.get(name) ?? []), command])
  for (const entry of commands) add(entry.name, { entry, preset: {}, forms: formsOf(entry.params, entry.positional) })
  for (const entry of commands) {
    for (const { words, data = {}, positional } of entry.also ?? []) {
      const name = snake(words)
      if (name === entry.name) continue
      const open = entry.params.filter(({ name: field }) => !(field in data))
      const forms = positional ?? entry.positional?.filter((form) => !form.some((field) => field in data))
      add(name, { entry, preset: data, forms: formsOf(open, forms) })
    }
  }
  return byName
})

/** Returns the words that can follow the first word of a name or spelling of two words. */
export const secondWords = (first: string, { commands }: Manifest): readonly string[] =>
  pairsOf(commands).get(snake(first)) ?? []

/** The second words of names and spellings of two words, by the first. */
const pairsOf = oncePer((commands: readonly CommandEntry[]) => {
  const byFirst = new Map<string, string[]>()
  for (const name of commands.flatMap(({ name: own, also = [] }) => [own, ...also.map(({ words }) => words)])) {
    const [first, second, ...more] = name.split(/[_ ]/)
    if (second !== undefined && more.length === 0) byFirst.set(first!, [...(byFirst.get(first!) ?? []), second])
  }
  for (const [first, seconds] of byFirst) byFirst.set(first, [...new Set(seconds)].toSorted())
  return byFirst
})
