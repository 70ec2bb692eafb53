/** What is typed after `bax do`, as a batch of commands. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'
import { attributeOf, flagValue, type Typed, wordValue } from './values.ts'

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

/** A way of typing commands: `bax do`, `bax step`. */
export interface BatchKind {
  /** After `bax`. */
  readonly words: string
  /** Flags of the whole batch. */
  readonly params: readonly Param[]
  /** The page of help, given the text of the flags. */
  readonly help: (flags: string) => string
}

/** The words of each command. */
export function segments(argv: readonly string[]): string[][] {
  const found: string[][] = [[]]
  for (const text of argv) {
    if (text === 'then') found.push([])
    else found.at(-1)!.push(text)
  }
  return found
}

/** The command of that name, in either spelling. */
export const findEntry = (word: string, manifest: Manifest): CommandEntry | undefined => {
  const name = word.replaceAll('-', '_').toLowerCase()
  return manifest.commands.find((command) => command.name === name)
}

/** Fields that are typed as words, in order. */
export const requiredOf = ({ params }: CommandEntry): Param[] => params.filter(({ required }) => required)

/** Fields that are typed as flags. */
export const optionalOf = ({ params }: CommandEntry): Param[] => params.filter(({ required }) => !required)

/** Fields of the request that are flags of the batch. */
export const batchParams = (manifest: Manifest): Param[] =>
  operationNamed(manifest, 'runCommands').params.filter(({ name }) => name !== 'commands' && name !== 'session_id')

/** Joins the parsed words and flags of one command to its data, apart from the flags of the batch. */
export function toCommand(entry: CommandEntry, typed: Typed, cwd: string): TypedBatch & { commands: [TypedCommand] } {
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

/** One batch of commands that were parsed one by one. */
export const joinBatches = (parts: readonly TypedBatch[]): TypedBatch => ({
  commands: parts.flatMap(({ commands }) => commands ?? []),
  flags: Object.assign({}, ...parts.map(({ flags }) => flags)) as Typed['flags'],
})

/** Values of the batch's own fields. */
export function batchFields(manifest: Manifest, flags: Typed['flags'], cwd: string): Record<string, unknown> {
  const entries = batchParams(manifest).map((param) => [param.name, flagValue(param, flags, cwd)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The error of a `then` without a command on one of its sides. */
export const emptySegment = (): BaxError =>
  new BaxError('invalid_request', 'a browser command is missing beside `then`', {
    hint: 'the word then stands between two commands; as a value, give it through `bax do -`',
  })
