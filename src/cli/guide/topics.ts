/** Names of topics of the guide, which take precedence over names of commands after `bax help`. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'
import { findCommand } from '../parse/command-table.ts'
import type { TableEntry } from '../parse/table-entry.ts'
import { commandsNamed } from '../../lines/named-commands.ts'
import { type GuidePage, readGuide } from './pages.ts'

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

/** Returns whether a word alone is a command or a noun with verbs; `network` is only the beginning of commands. */
export const hasHelp = (word: string, { entries, manifest }: CommandNames): boolean =>
  entries.some(({ words }) => words === word || words.startsWith(`${word} `)) ||
  commandsNamed(word, manifest).length > 0

/** Returns the topics as they are typed after `bax help`, with a sentence about each. */
export const topicsOf = (pages: readonly GuidePage[]) =>
  pages.map(({ topic, summary }) => ({ value: topic, description: summary.replace(/\.$/, '') }))

/** Finds the page that the words after `bax help` name: `scraping`, `live view`, `guide/observe`. */
export function findPage(words: readonly string[], pages: readonly GuidePage[]): GuidePage | undefined {
  const name = words
    .join('-')
    .toLowerCase()
    .replace(/^guide\//, '')
  return pages.find(({ topic }) => topic === name)
}

/** Returns the last line of the help of a command, which names its page; nothing if no page names the command. */
export function guidePointer(command: string, io: Io, names: CommandNames): string {
  const pages = readGuide(io)
  // The page of the command or its noun; of a browser command, else that of `do`.
  const own = command.replace(/^(?:do|step) /, '')
  const isBrowserCommand = commandsNamed(own, names.manifest).length > 0
  for (const name of [own, own.split(' ')[0]!, ...(isBrowserCommand ? ['do'] : [])]) {
    const page = pages.find(({ commands }) => commands.includes(name))
    if (page) return `\nGuide: bax help ${page.topic}\n`
  }
  return ''
}
