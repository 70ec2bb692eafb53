/** Names of topics beside names of commands, which win: the page `observe` is `bax help guide/observe`. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'
import { findCommand, type TableEntry } from '../parse/command-table.ts'
import { commandsNamed } from '../parse/named-commands.ts'
import { type GuidePage, readGuide } from './pages.ts'

const prefix = 'guide/'

/** All names that can follow `bax`. */
export interface CommandNames {
  readonly entries: readonly TableEntry[]
  readonly manifest: Manifest
}

/** Checks if a command line with this first word names a command. */
export function isCommand(word: string, { entries, manifest }: CommandNames): boolean {
  try {
    findCommand(entries, manifest, [word])
    return true
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    return false
  }
}

/** Returns the name of a topic as it is typed after `bax help`. */
export const typedTopic = (topic: string, names: CommandNames): string =>
  isCommand(topic, names) ? prefix + topic : topic

/** Returns the topics as they are typed after `bax help`, with a sentence about each. */
export const topicsOf = (pages: readonly GuidePage[], names: CommandNames) =>
  pages.map(({ topic, summary }) => ({ value: typedTopic(topic, names), description: summary.replace(/\.$/, '') }))

/** Finds the page that the words after `bax help` name: `scraping`, `live view`, `guide/observe`. */
export function findPage(
  words: readonly string[],
  pages: readonly GuidePage[],
  names: CommandNames,
): GuidePage | undefined {
  const name = words.join('-').toLowerCase()
  return pages.find(({ topic }) => name === prefix + topic || (name === topic && !isCommand(words[0]!, names)))
}

/** Returns the last line of the help of a command, which names its page; nothing if no page names the command. */
export function guidePointer(command: string, io: Io, names: CommandNames): string {
  const pages = readGuide(io)
  // The page of the command or its noun; of a browser command, else that of `do`.
  const own = command.replace(/^(?:do|step) /, '')
  const isBrowserCommand = commandsNamed(own, names.manifest).length > 0
  for (const name of [own, own.split(' ')[0]!, ...(isBrowserCommand ? ['do'] : [])]) {
    const page = pages.find(({ commands }) => commands.includes(name))
    if (page) return `\nGuide: bax help ${typedTopic(page.topic, names)}\n`
  }
  return ''
}
