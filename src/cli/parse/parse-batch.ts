/** Parses a batch with commander, which supports help, every spelling of a flag, and suggestions. */
import { type Command, Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { suggest } from '../../core/errors/suggest.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
import {
  type BatchKind,
  batchParams,
  emptySegment,
  findEntry,
  joinBatches,
  optionalOf,
  requiredOf,
  segments,
  toCommand,
  type TypedBatch,
} from './batch.ts'
import { addGlobalFlags, addParam, addSessionFlag, addWord, HelpWanted, newCommand, parse } from './flags.ts'
import { catalogueHelp } from '../output/help.ts'
import { kebab } from './values.ts'

const batchGroup = 'Flags of the batch:'

/** `bax do`. */
const plainKind = (manifest: Manifest): BatchKind => ({
  words: 'do',
  params: batchParams(manifest),
  help: (flags) => catalogueHelp(manifest, flags),
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
  kind: BatchKind = plainKind(manifest),
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
  const { output, ...rest } = flags as { output?: string }
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

function parseSegment(
  [word, ...rest]: readonly string[],
  manifest: Manifest,
  cwd: string,
  kind: BatchKind,
): TypedBatch {
  if (word === undefined) throw emptySegment()
  const entry = findEntry(word, manifest) ?? unknownCommand(word, manifest)
  const required = requiredOf(entry)
  const command = newCommand(`bax ${kind.words} ${kebab(entry.name)}`, entry.summary)
  for (const [at, param] of required.entries()) addWord(command, param, at === required.length - 1)
  for (const param of optionalOf(entry)) addParam(command, param)
  addBatchFlags(command, kind, new Set(entry.params.map(({ name }) => name)))
  return toCommand(
    entry,
    parse(command, rest, `bax ${kind.words} ${kebab(entry.name)} ${entry.example}`.trimEnd()),
    cwd,
  )
}

function unknownCommand(word: string, manifest: Manifest): CommandEntry {
  const near = suggest(
    word.replaceAll('-', '_'),
    manifest.commands.map((command) => command.name),
  )
  throw new BaxError('invalid_request', `unknown command "${word}"${near ? ` (did you mean "${kebab(near)}"?)` : ''}`, {
    hint: 'run "bax do --help" for the browser commands',
  })
}

/** Adds the flags of the batch, which may follow any command; `taken` are names of the command's own fields. */
function addBatchFlags(command: Command, { params }: BatchKind, taken: ReadonlySet<string>): void {
  command.optionsGroup(batchGroup)
  addSessionFlag(command)
  command.addOption(new Option('-o, --output <file>', 'file for the result; - for standard output'))
  for (const param of params) if (!taken.has(param.name)) addParam(command, param)
  addGlobalFlags(command)
}

function helpWanted(batch: Command, { help }: BatchKind): Error {
  const text = batch.helpInformation()
  return new HelpWanted(help(text.slice(text.indexOf(batchGroup))), batch)
}
