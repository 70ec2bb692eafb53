/** Parses a batch with commander, which supports help, every spelling of a flag, and suggestions. */
import { textFlag } from './typed.ts'
import { type Command, Option } from 'commander'
import { BaxError } from '../core/errors/errors.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import {
  type BatchKind,
  batchParams,
  emptySegment,
  flagsOf,
  joinBatches,
  segments,
  toCommand,
  type TypedBatch,
} from './batch.ts'
import {
  addForms,
  addBoundariesFlag,
  addGlobalFlags,
  addNewSessionFlag,
  addParam,
  addSessionFlag,
  helpOf,
  newCommand,
  parse,
} from './flags.ts'
import { HelpWanted } from './help-wanted.ts'
import { commandsNamed, type NamedCommand, secondWords } from './named-commands.ts'
import { adviceFor, suggestion, synonymsOf } from './suggestion.ts'
import { catalogueHelp } from './catalogue-help.ts'
import { kebab } from './values.ts'

const batchGroup = 'Flags of every browser command:'

/** `bax do`. */
export const doKind = (manifest: Manifest, examples: readonly string[]): BatchKind => ({
  words: 'do',
  params: batchParams(manifest),
  help: (flags, width) => catalogueHelp({ manifest, flags, examples, width }),
})

/** Returns the flags with a value that may precede the first command. */
const valued = ({ params }: BatchKind): Set<string> =>
  new Set([
    ...'-s --session -o --output --server --state-dir --browser'.split(' '),
    ...params.filter(({ type }) => type !== 'boolean').map(({ name }) => `--${kebab(name)}`),
  ])

/** Parses the arguments of a batch. @throws BaxError `invalid_request`; `HelpWanted` for --help */
export function parseBatch(
  argv: readonly string[],
  manifest: Manifest,
  cwd: string,
  kind: BatchKind = doKind(manifest, []),
): TypedBatch {
  const [first = [], ...others] = segments(argv)
  const start = firstWord(first, valued(kind))
  const batch = newCommand(`bax ${kind.words}`, '')
  addBatchFlags(batch, kind, new Set())
  const leading = first.slice(0, start)
  if (leading.some((flag) => flag === '--help' || flag === '-h')) throw helpWanted(batch, kind)
  const { flags } = parse(batch, leading)
  const name = first[start]
  if (name === undefined)
    throw new BaxError('invalid_request', 'no browser command was given', {
      hint: 'run "bax do --help" for the browser commands',
    })
  if (name === '-') {
    const rest = parse(batch, [...leading, ...first.slice(start + 1), ...others.flat()])
    return { commands: null, flags: rest.flags }
  }
  const typed = joinBatches(
    [first.slice(start), ...others].map((segment) => parseSegment(segment, manifest, cwd, kind)),
  )
  // An output file before the commands belongs to the last one.
  const { output: _, ...rest } = flags
  const output = textFlag(flags, 'output')
  const all = typed.commands ?? []
  const last = all.length - 1
  const commands = all.map((command, at) => (output && at === last ? { output, ...command } : command))
  return { commands, flags: { ...typed.flags, ...rest } }
}

/** Returns the index of the first word that is neither a flag nor its value. */
function firstWord(argv: readonly string[], valued: ReadonlySet<string>): number {
  let index = 0
  for (let word = argv[0]; word?.startsWith('-') && word !== '-'; word = argv[index]) index += valued.has(word) ? 2 : 1
  return Math.min(index, argv.length)
}

/**
 * Parses one command. When several have the name (`drag`, `tab`), the first that accepts the words and flags is meant.
 */
function parseSegment(segment: readonly string[], manifest: Manifest, cwd: string, kind: BatchKind): TypedBatch {
  if (segment.length === 0) throw emptySegment()
  const { name, named, rest } = splitName(segment, manifest, valued(kind))
  const [first, ...others] = named
  if (!first) throw unknownCommand(name, rest[firstWord(rest, valued(kind))], manifest)
  try {
    return parseAs(first, name, rest, cwd, kind)
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    for (const other of others) {
      try {
        return parseAs(other, name, rest, cwd, kind)
      } catch (cause) {
        if (!(cause instanceof BaxError)) throw cause
      }
    }
    throw error
  }
}

/** Splits a command into its name, the longest of one to three words, and its arguments. */
function splitName([first = '', ...others]: readonly string[], manifest: Manifest, valued: ReadonlySet<string>) {
  let found = { name: first, named: commandsNamed(first, manifest), rest: others }
  let [name, rest] = [first, others]
  for (let words = 2; words <= 3; words++) {
    const at = firstWord(rest, valued)
    if (rest[at] === undefined) break
    name += ` ${rest[at]}`
    rest = rest.toSpliced(at, 1)
    const named = commandsNamed(name, manifest)
    if (named.length > 0) found = { name, named, rest }
  }
  return found
}

function parseAs(named: NamedCommand, name: string, argv: readonly string[], cwd: string, kind: BatchKind): TypedBatch {
  const { entry, forms } = named
  const { params } = entry
  // Browser commands work without `do`.
  const title = `bax ${kind.words === 'do' ? '' : `${kind.words} `}${kebab(entry.name)}`
  const command = newCommand(title, entry.summary)
  addForms(command, forms, params)
  for (const param of flagsOf(named)) addParam(command, param)
  addBatchFlags(command, kind, new Set(params.map((param) => param.name)), outputAbout(entry))
  // Browser commands work without `do`.
  const start = kind.words === 'do' ? `bax ${kebab(entry.name)}` : title
  const examples = entry.examples.map((example) => `${start} ${example}`.trimEnd())
  return toCommand(named, parse(command, argv, examples), cwd)
}

function unknownCommand(word: string, next: string | undefined, manifest: Manifest): BaxError {
  const following = secondWords(word, manifest)
  if (following.length > 0) {
    const message = next === undefined ? `"${word}" is incomplete` : `unknown command "${word} ${next}"`
    const near =
      next === undefined ? (synonymsOf(word).length > 0 ? suggestion(word, manifest) : '') : didYouMean(next, following)
    return new BaxError('invalid_request', message + near, {
      hint: `use "${word}" with one of ${following.join(', ')}`,
    })
  }
  return new BaxError('invalid_request', `unknown command "${word}"${suggestion(word, manifest)}`, {
    hint: adviceFor(word) ?? 'run "bax do --help" for the browser commands',
  })
}

/** Returns the description of --output for a command, by where its result goes without the flag. */
function outputAbout({ bytes, stores }: CommandEntry): string | undefined {
  if (bytes) return 'file for the result; a new file in the working folder when omitted, - for standard output'
  return stores && 'file for the result, which is also kept in the session; - for standard output'
}

/** Adds the flags of the batch, which may follow any command; `taken` are names of the command's own fields. */
function addBatchFlags(
  command: Command,
  { params }: BatchKind,
  taken: ReadonlySet<string>,
  output = 'file for the result; - for standard output',
): void {
  command.optionsGroup(batchGroup)
  addSessionFlag(command)
  addNewSessionFlag(command)
  command.addOption(new Option('-o, --output <file>', output))
  for (const param of params) if (!taken.has(param.name)) addParam(command, param)
  addBoundariesFlag(command)
  addGlobalFlags(command)
}

function helpWanted(batch: Command, { help }: BatchKind): Error {
  const flags = (width: number) => {
    const text = helpOf(batch, width)
    return text.slice(text.indexOf(batchGroup))
  }
  return new HelpWanted((width) => help(flags(width), width), batch)
}
