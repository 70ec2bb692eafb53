/** Batches of browser commands, as typed after `bax do`. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'
import { attributeOf, flagValue, type TypedArguments, wordValue } from './values.ts'

/** One typed command. */
export interface TypedCommand {
  readonly command: string
  readonly data: Record<string, unknown>
  /** File for its result instead of standard output. */
  readonly output?: string
}

export interface TypedBatch {
  /** Null if the commands come from standard input. */
  readonly commands: readonly TypedCommand[] | null
  /** Flags of the whole batch. */
  readonly flags: TypedArguments['flags']
}

/** A command that takes a batch: `bax do`, `bax step`. */
export interface BatchKind {
  /** Name of the command. */
  readonly words: string
  /** Flags of the whole batch. */
  readonly params: readonly Param[]
  /** Returns the help page, given the text about the flags. */
  readonly help: (flags: string) => string
}

/** Splits the arguments of a batch at `then`. */
export function segments(argv: readonly string[]): string[][] {
  const found: string[][] = [[]]
  for (const text of argv) {
    if (text === 'then') found.push([])
    else found.at(-1)!.push(text)
  }
  return found
}

/** Finds a browser command by its name, spelled with `-` or `_`, or by another spelling. */
export const findEntry = (word: string, manifest: Manifest): CommandEntry | undefined => {
  const name = word.replaceAll('-', '_').toLowerCase()
  return manifest.commands.find((command) => command.name === name || command.also?.includes(name))
}

/** Returns the fields that are positional words, in order. */
export const requiredOf = ({ params }: CommandEntry): Param[] => params.filter(({ required }) => required)

/** Returns the fields that are flags. */
export const optionalOf = ({ params }: CommandEntry): Param[] => params.filter(({ required }) => !required)

/** Returns the fields of the request that are flags of the batch. */
export const batchParams = (manifest: Manifest): Param[] =>
  operationNamed(manifest, 'runCommands').params.filter(({ name }) => name !== 'commands' && name !== 'session_id')

/** Converts the parsed words and flags of one command; flags of the batch are kept apart. */
export function toCommand(
  entry: CommandEntry,
  typed: TypedArguments,
  cwd: string,
): TypedBatch & { commands: [TypedCommand] } {
  const words = requiredOf(entry).map((param, at) => [param.name, wordValue(param, typed.words[at], cwd)] as const)
  const own = optionalOf(entry)
  const given = own.map((param) => [param.name, flagValue(param, typed.flags, cwd)] as const)
  const data = Object.fromEntries([...words, ...given].filter(([, value]) => value !== undefined))
  const { output, ...flags } = typed.flags as { output?: string }
  const ownFlags = new Set(own.map(attributeOf))
  return {
    commands: [{ command: entry.name, data, ...(output !== undefined && { output }) }],
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => !ownFlags.has(name))),
  }
}

/** Joins separately parsed commands into one batch. */
export const joinBatches = (parts: readonly TypedBatch[]): TypedBatch => ({
  commands: parts.flatMap(({ commands }) => commands ?? []),
  flags: Object.assign({}, ...parts.map(({ flags }) => flags)) as TypedArguments['flags'],
})

/** Returns the fields of a request that its flags set. */
export function flagFields(
  params: readonly Param[],
  flags: TypedArguments['flags'],
  cwd: string,
): Record<string, unknown> {
  const entries = params.map((param) => [param.name, flagValue(param, flags, cwd)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Builds the error of a `then` without a command on one side. */
export const emptySegment = (): BaxError =>
  new BaxError('invalid_request', 'a browser command is missing beside `then`', {
    hint: 'put "then" between two commands; to pass it as a value, use "bax do -"',
  })
