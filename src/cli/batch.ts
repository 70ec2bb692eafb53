/** What is typed after `bax do`, as a batch of commands. */
import { Option, type Command } from 'commander'
import { BaxError } from '../core/errors.ts'
import type { Param } from '../core/params.ts'
import { suggest } from '../core/suggest.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import { operationNamed } from './context.ts'
import {
  addGlobalFlags,
  addParam,
  addWord,
  flagValue,
  HelpWanted,
  kebab,
  newCommand,
  parse,
  type Typed,
  wordValue,
} from './flags.ts'
import { catalogueHelp } from './help.ts'
import { addSessionFlag } from './run-operation.ts'

/** One command as it was typed. */
export interface TypedCommand {
  readonly command: string
  readonly data: Record<string, unknown>
  /** Where its result goes instead of standard output. */
  readonly output?: string
}

export interface TypedBatch {
  /** Null when the commands come from standard input. */
  readonly commands: readonly TypedCommand[] | null
  /** Flags that are about the whole batch. */
  readonly flags: Typed['flags']
}

const batchGroup = 'Flags of the batch:'
const valued = new Set([
  '-s',
  '--session',
  '-o',
  '--output',
  '--timeout-ms',
  '--context',
  '--server',
  '--state-dir',
  '--browser',
])

/** Fields of the request that are flags of the batch. */
const batchParams = (manifest: Manifest): Param[] =>
  operationNamed(manifest, 'runCommands').params.filter(({ name }) => name !== 'commands' && name !== 'session_id')

/** @throws BaxError `invalid_request` for what cannot be run; `HelpWanted` for --help. */
export function parseBatch(argv: readonly string[], manifest: Manifest, cwd: string): TypedBatch {
  const [first = [], ...others] = segments(argv)
  const start = firstWord(first)
  const batch = newCommand('bax do', '')
  addBatchFlags(batch, manifest, new Set())
  const leading = first.slice(0, start)
  if (leading.some((flag) => flag === '--help' || flag === '-h')) throw helpWanted(batch, manifest)
  const { flags } = parse(batch, leading)
  const name = first[start]
  if (name === undefined)
    throw new BaxError('invalid_request', 'no browser command was given', { hint: '`bax do --help` lists them' })
  if (name === '-') {
    const rest = parse(batch, [...leading, ...first.slice(start + 1), ...others.flat()])
    return { commands: null, flags: rest.flags }
  }
  const typed = [first.slice(start), ...others].map((segment) => parseSegment(segment, manifest, cwd))
  const output = flags['output'] as string | undefined
  const commands = typed.map(({ command }, at) =>
    output && at === typed.length - 1 ? { output, ...command } : command,
  )
  return { commands, flags: Object.assign({}, ...typed.map((segment) => segment.flags), flags) as Typed['flags'] }
}

function segments(argv: readonly string[]): string[][] {
  const found: string[][] = [[]]
  for (const text of argv) {
    if (text === 'then') found.push([])
    else found.at(-1)!.push(text)
  }
  return found
}

/** Index of the first word that is no flag and no value of one. */
function firstWord(argv: readonly string[]): number {
  let index = 0
  while (index < argv.length && argv[index] !== '-' && argv[index]!.startsWith('-'))
    index += valued.has(argv[index]!) ? 2 : 1
  return Math.min(index, argv.length)
}

function parseSegment(segment: readonly string[], manifest: Manifest, cwd: string) {
  const [word, ...rest] = segment
  if (word === undefined)
    throw new BaxError('invalid_request', 'a browser command is missing beside `then`', {
      hint: 'the word then stands between two commands; as a value, give it through `bax do -`',
    })
  const entry = findEntry(word, manifest)
  const required = entry.params.filter((param) => param.required)
  const optional = entry.params.filter((param) => !param.required)
  const command = newCommand(`bax do ${kebab(entry.name)}`, entry.summary)
  for (const [at, param] of required.entries()) addWord(command, param, at === required.length - 1)
  for (const param of optional) addParam(command, param)
  addBatchFlags(command, manifest, new Set(entry.params.map(({ name }) => name)))
  const typed = parse(command, rest, `bax do ${kebab(entry.name)} ${entry.example}`.trimEnd())
  const data: Record<string, unknown> = {}
  for (const [at, param] of required.entries()) data[param.name] = wordValue(param, typed.words[at], cwd)
  for (const param of optional) {
    const value = flagValue(param, typed.flags, cwd)
    if (value !== undefined) data[param.name] = value
  }
  const { output, ...flags } = typed.flags as { output?: string }
  const own = new Set(
    optional.map(({ name }) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())),
  )
  return {
    command: { command: entry.name, data, ...(output && { output }) },
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => !own.has(name))),
  }
}

function findEntry(word: string, manifest: Manifest): CommandEntry {
  const name = word.replaceAll('-', '_').toLowerCase()
  const entry = manifest.commands.find((command) => command.name === name)
  if (entry) return entry
  const near = suggest(
    name,
    manifest.commands.map((command) => command.name),
  )
  throw new BaxError('invalid_request', `unknown command "${word}"${near ? ` (did you mean "${kebab(near)}"?)` : ''}`, {
    hint: '`bax do --help` lists the browser commands',
  })
}

/** Flags of the batch that can stand after any command; a field of the command itself goes before one of the same name. */
function addBatchFlags(command: Command, manifest: Manifest, taken: ReadonlySet<string>): void {
  const add = (flags: string, about: string) => command.addOption(new Option(flags, about).helpGroup(batchGroup))
  command.optionsGroup(batchGroup)
  addSessionFlag(command)
  add('-o, --output <file>', 'write the result to this file; - is standard output')
  for (const param of batchParams(manifest)) if (!taken.has(param.name)) addParam(command, param)
  addGlobalFlags(command)
}

function helpWanted(batch: Command, manifest: Manifest): Error {
  const help = batch.helpInformation()
  return new HelpWanted(catalogueHelp(manifest, help.slice(help.indexOf(batchGroup))))
}

/** Values of the batch's own fields. */
export function batchFields(manifest: Manifest, flags: Typed['flags'], cwd: string): Record<string, unknown> {
  const entries = batchParams(manifest).map((param) => [param.name, flagValue(param, flags, cwd)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
