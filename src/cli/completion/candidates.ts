/** Completion candidates at the cursor, from the same definitions that parse the command line. */
import type { Command, Option } from 'commander'
import type { Manifest } from '../../operations/manifest.ts'
import { readGuide } from '../guide/pages.ts'
import { topicsOf } from '../guide/topics.ts'
import { choicesOf } from '../../lines/flags.ts'
import { isHelpWanted } from '../../lines/help-wanted.ts'
import type { Io } from '../io.ts'
import { loadCommand } from '../parse/command-modules.ts'
import { kebab } from '../../lines/values.ts'
import { commandsNamed } from '../../lines/named-commands.ts'
import { commandTable, wordPositions } from '../parse/command-table.ts'
import type { CliManifest, TableEntry } from '../parse/table-entry.ts'
import { type Candidate, liveNames } from './live-names.ts'

export interface Completion {
  readonly candidates: readonly Candidate[]
  /** Whether file names are candidates, too. */
  readonly files: boolean
}

const nothing: Completion = { candidates: [], files: false }
const help: Candidate = { value: 'help', description: 'Print the help of a command' }
const separator = 'then'

/** Returns the candidates for the last word of `typed`, the words after `bax`; that word may be empty. */
export async function complete(typed: readonly string[], manifest: CliManifest, io: Io): Promise<Completion> {
  const current = typed.at(-1) ?? ''
  const before = typed.slice(0, -1)
  const entries = commandTable(manifest).filter(({ hidden }) => !hidden)
  if (before[0] === help.value)
    return { candidates: startingWith(current, inHelp(entries, before.slice(1), manifest, io)), files: false }
  const { entry, rest, path } = findEntry(entries, before, manifest)
  const found = entry ? await inCommand({ entry, rest, current, manifest, io }) : nothing
  const verbs = current.startsWith('-') || (entry && rest.length > 0) ? [] : nextWords(entries, path)
  const commands = path.length === 0 && verbs.length > 0 ? browserCommands(manifest) : []
  const general = before.length === 0 ? [help] : []
  return {
    candidates: startingWith(current, [...verbs, ...commands, ...general, ...found.candidates]),
    files: found.files,
  }
}

const startingWith = (text: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(({ value }) => value.startsWith(text))

/** Returns the names that can follow `bax help` and further words: commands, and topics of the guide. */
function inHelp(entries: readonly TableEntry[], path: readonly string[], manifest: Manifest, io: Io): Candidate[] {
  if (path.length === 1 && isBatch({ words: path[0]! })) return browserCommands(manifest)
  const topics = path.length === 0 ? topicsOf(readGuide(io)) : []
  const commands = nextWords(entries, path).filter(({ value }) => !topics.some((topic) => topic.value === value))
  return [...commands, ...topics]
}

const browserCommands = ({ commands }: Manifest): Candidate[] =>
  commands.map(({ name, summary }) => ({ value: kebab(name), description: summary }))

/** Finds the command on the line, its other arguments, and the name typed so far. */
function findEntry(entries: readonly TableEntry[], before: readonly string[], manifest: Manifest) {
  const at = wordPositions(before)
  for (let count = at.length; count > 0; count -= 1) {
    const path = at.slice(0, count).flatMap((index) => before[index] ?? [])
    const entry = entries.find(({ words }) => words === path.join(' '))
    if (entry) return { entry, path, rest: before.filter((_, index) => !at.slice(0, count).includes(index)) }
  }
  const path = at.flatMap((index) => before[index] ?? [])
  // Browser commands work without `do`.
  const batch =
    commandsNamed(path[0] ?? '', manifest).length > 0 ? entries.find(({ words }) => words === 'do') : undefined
  return { entry: batch, path, rest: batch ? before : [] }
}

/** Returns the words that can follow `path`: verbs of a noun, or all first words. */
function nextWords(entries: readonly TableEntry[], path: readonly string[]): Candidate[] {
  const start = path.length === 0 ? '' : `${path.join(' ')} `
  const next = new Map<string, string>()
  for (const { words, summary } of entries) {
    if (!words.startsWith(start)) continue
    const [word, ...more] = words.slice(start.length).split(' ')
    if (word && !next.has(word)) next.set(word, more.length > 0 ? `${word} …` : summary)
  }
  return [...next].map(([value, description]) => ({ value, description }))
}

interface Cursor {
  readonly entry: TableEntry
  readonly rest: readonly string[]
  readonly current: string
  readonly manifest: CliManifest
  readonly io: Io
}

/** Whether the command runs browser commands, each of which has its own flags. */
const isBatch = ({ words }: Pick<TableEntry, 'words'>): boolean => words === 'do' || words === 'step'

async function inCommand(cursor: Cursor): Promise<Completion> {
  const { entry, rest, current, manifest } = cursor
  if (!isBatch(entry)) return inFlags(cursor, rest)
  // Flags of the batch may precede the first command.
  const segment = rest.slice(rest.lastIndexOf(separator) + 1)
  const batch = await definitionOf(cursor, [])
  const start = firstWord(batch!, segment)
  if (start === undefined) {
    const { candidates, files } = await inFlags(cursor, segment)
    const open = takesValue(findOption(batch!, segment.at(-1) ?? ''))
    return {
      candidates: open || current.startsWith('-') ? candidates : browserCommands(manifest),
      files: open && files,
    }
  }
  const { candidates, files } = await inFlags(cursor, segment.slice(start))
  const then = { value: separator, description: 'next command of the batch' }
  return { candidates: current.startsWith('-') ? candidates : [...candidates, then], files }
}

/** Returns the index of the browser command; undefined if there are only flags. */
function firstWord(batch: Command, segment: readonly string[]): number | undefined {
  for (let at = 0; at < segment.length; at += 1) {
    if (!segment[at]!.startsWith('-')) return at
    if (takesValue(findOption(batch, segment[at]!))) at += 1
  }
  return undefined
}

const takesValue = (option: Option | undefined): boolean => Boolean(option?.required || option?.optional)

async function inFlags(cursor: Cursor, typed: readonly string[]): Promise<Completion> {
  const { current } = cursor
  const command = await definitionOf(cursor, typed)
  if (!command) return nothing
  const [name, value] = current.startsWith('--') && current.includes('=') ? current.split('=', 2) : []
  const open = findOption(command, name ?? typed.at(-1) ?? '')
  if (open && takesValue(open)) return ofOption(open, cursor, name, value)
  if (current.startsWith('-')) return { candidates: flagsOf(command), files: false }
  return ofWord(command, cursor, typed)
}

/** Returns the definition of a command, taken from its help. */
async function definitionOf({ entry, manifest, io }: Cursor, typed: readonly string[]): Promise<Command | undefined> {
  const { words, summary, operation } = entry
  const [word] = typed
  const argv = isBatch(entry) && word && !word.startsWith('-') ? [word, '--help'] : ['--help']
  const invocation = { io, manifest, words, summary, examples: [], argv }
  try {
    if (operation) await (await import('../run-operation.ts')).runOperation(invocation, operation)
    else await (await loadCommand(words)).run(invocation)
  } catch (error) {
    if (isHelpWanted(error)) return error.command
    // An unknown browser command has no flags.
    if (isBatch(entry)) return undefined
    throw error
  }
  return undefined
}

const findOption = (command: Command, name: string): Option | undefined =>
  name.startsWith('-') ? command.options.find(({ long, short }) => long === name || short === name) : undefined

const flagsOf = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: (long ?? short)!, description }))

async function ofOption(option: Option, cursor: Cursor, name?: string, value?: string): Promise<Completion> {
  const form = /[<[]([^>\]]+)/.exec(option.flags)?.[1] ?? ''
  const known = choicesOf(option)?.map((choice) => ({ value: choice, description: '' }))
  const { candidates, files } = known ? { candidates: known, files: false } : await ofForm(form, cursor)
  const typed = value ?? cursor.current
  // In a list, the last item is completed.
  const list = typed.slice(0, typed.lastIndexOf(',') + 1)
  const start = (name === undefined ? '' : `${name}=`) + list
  return { candidates: candidates.map((one) => ({ ...one, value: start + one.value })), files }
}

async function ofWord(command: Command, cursor: Cursor, typed: readonly string[]): Promise<Completion> {
  const flagged = new Set<number>()
  typed.forEach((text, at) => {
    const option = findOption(command, text)
    if (text.startsWith('-')) flagged.add(at)
    if (option?.required) flagged.add(at + 1)
  })
  const words = typed.filter((_, at) => !flagged.has(at))
  const names = command.registeredArguments
  const argument = names[words.length] ?? (names.at(-1)?.variadic ? names.at(-1) : undefined)
  return argument ? ofForm(argument.name(), cursor) : nothing
}

/** Returns the candidates for a placeholder of the help, such as `<json|yaml>`, `<file>` or `<id|name>`. */
async function ofForm(form: string, { entry, manifest, io }: Cursor): Promise<Completion> {
  if (/\b(?:file|path|folder|script|dir|program)s?\b/.test(form)) return { candidates: [], files: true }
  if (/^(?:session-id|id\|name)$/.test(form)) {
    return {
      candidates: await liveNames(entry.words.startsWith('shell') ? 'shells' : 'sessions', manifest, io),
      files: false,
    }
  }
  const choices = form.split('|')
  const isChoice = choices.length > 1 && choices.every((choice) => /^[a-z][\w.-]*$/i.test(choice))
  return { candidates: isChoice ? choices.map((value) => ({ value, description: '' })) : [], files: false }
}
