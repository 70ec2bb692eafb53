/** Table of all terminal commands: those derived from operations, and custom ones. */
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { oncePer } from '../../core/once-per.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { commandsNamed, secondWords } from '../../lines/named-commands.ts'
import type { CliManifest, TableEntry } from './table-entry.ts'
import { adviceFor, suggestion } from '../../lines/suggestion.ts'

/** Returns all commands; a custom one replaces the operation of the same name. */
export const commandTable = oncePer(({ operations, terminal }: CliManifest): readonly TableEntry[] => {
  const custom = new Set(terminal.map(({ words }) => words))
  const derived = operations.flatMap((operation): TableEntry[] => {
    const { cli, summary, examples, stream } = operation
    const { words, rest } = splitSyntax(cli ?? '')
    if (cli === null || custom.has(words)) return []
    const place = stream ? {} : ({ place: 'engine' } as const)
    return [{ words, rest: rest.replaceAll('_', '-'), summary, examples, operation, ...place }]
  })
  return [...terminal, ...derived]
})

/** Splits the syntax of a command into its name and its positional words. */
export function splitSyntax(cli: string): { words: string; rest: string } {
  const words = cli.replace(/\s*[<[].*$/, '')
  return { words, rest: cli.slice(words.length).trim() }
}

/** Flags with a value that may precede the name of the command. */
const valued = new Set(['--server', '--state-dir', '--browser', '-s', '--session'])

/** A command line, split into the command and its arguments. */
export interface Split {
  readonly entry?: TableEntry
  /** A noun without a verb, whose help is to be shown. */
  readonly group?: string
  readonly argv: readonly string[]
}

/** Other spellings of commands. */
export const spellings: Readonly<Record<string, string>> = {
  snapshot: 'observe',
  close: 'session close',
  quit: 'session close',
  exit: 'session close',
  ls: 'session list',
  list: 'session list',
  http: 'request',
}

/**
 * Common verbs, and the verbs of our nouns that they stand for: `key rm` runs `key revoke`, `profile new` `profile save`.
 * `shell ls` and `shell rm` are commands of their own, for files.
 */
const synonyms = [
  { typed: ['ls', 'list'], verbs: ['list'] },
  { typed: ['new', 'create'], verbs: ['create', 'save', 'connect', 'build'] },
  { typed: ['rm', 'close', 'delete', 'stop'], verbs: ['close', 'delete', 'stop', 'revoke'] },
]

/** Returns the command of another spelling. */
function commandSpelled(name: string, entries: readonly TableEntry[]): TableEntry | undefined {
  const space = name.lastIndexOf(' ')
  const [noun, verb] = [name.slice(0, space), name.slice(space + 1)]
  const names = synonyms.find(({ typed }) => space > 0 && typed.includes(verb))?.verbs.map((one) => `${noun} ${one}`)
  return entries.find(({ words }) => names?.includes(words) ?? words === spellings[name])
}

/** Finds the command on a command line. @throws BaxError `invalid_request` that suggests a similar name */
export function findCommand(entries: readonly TableEntry[], manifest: Manifest, argv: readonly string[]): Split {
  const at = wordPositions(argv)
  const typed = at.flatMap((index) => argv[index] ?? [])
  const without = (count: number) => argv.filter((_, index) => !at.slice(0, count).includes(index))
  const named = (count: number) => {
    const name = typed.slice(0, count).join(' ')
    return entries.find(({ words }) => words === name) ?? commandSpelled(name, entries)
  }
  for (let count = 1; count <= typed.length; count += 1) {
    const entry = named(count)
    // The verb of a noun that is itself a command must follow it directly: `crawl -o list` is not `crawl list`.
    const verb = at[count] === at[count - 1]! + 1 ? named(count + 1) : undefined
    if (entry) return verb ? { entry: verb, argv: without(count + 1) } : { entry, argv: without(count) }
    const name = typed.slice(0, count).join(' ')
    if (entries.some(({ words }) => words.startsWith(`${name} `))) continue
    if (count === 1) {
      // Every browser command works without `do`.
      const isCommand = commandsNamed(name, manifest).length > 0 || secondWords(name, manifest).length > 0
      if (isCommand) return { entry: entries.find(({ words }) => words === 'do')!, argv }
      throw unknownWord(name, entries, manifest)
    }
    const noun = typed.slice(0, count - 1).join(' ')
    const group = entries.filter(({ words, hidden }) => !hidden && words.startsWith(`${noun} `))
    const verbs = new Set(group.flatMap(({ words }) => words.slice(noun.length + 1).split(' ', 1)))
    throw new BaxError('invalid_request', `unknown command "${name}"${didYouMean(typed[count - 1]!, [...verbs])}`, {
      hint: `use "bax ${noun}" with one of ${[...verbs].toSorted().join(', ')}`,
    })
  }
  return typed.length === 0 ? { argv } : { group: typed.join(' '), argv: without(typed.length) }
}

/** Returns the indexes of up to three words that may be the name of a command. */
export function wordPositions(argv: readonly string[]): number[] {
  const found: number[] = []
  for (let index = 0; index < argv.length && found.length < 3; index += 1) {
    const text = argv[index] ?? ''
    if (text === '--') break
    if (valued.has(text)) index += 1
    else if (!text.startsWith('-')) found.push(index)
  }
  return found
}

function unknownWord(word: string, entries: readonly TableEntry[], manifest: Manifest): BaxError {
  // Nouns, and commands of two words, which may be typed as `session-list`.
  const names = entries.filter(({ hidden }) => !hidden).flatMap(({ words }) => [words.split(' ', 1)[0]!, words])
  const near = suggestion(word, manifest, [...new Set(names)])
  return new BaxError('invalid_request', `unknown command "${word}"${near}`, {
    hint: adviceFor(word) ?? 'run "bax --help" for the commands',
  })
}
