/** Batches of browser commands, as typed after `bax do`. */
import { textFlag } from './typed.ts'
import { type Unchecked, uncheckedFields } from '../client/calls.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Param } from '../core/operation/params.ts'
import { elementAsFile, formFor } from '../core/operation/positional.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import type { NamedCommand } from './named-commands.ts'
import { attributeOf, flagValue, kebab, type TypedArguments, wordValue } from './values.ts'

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
  /** Returns the help page for a width, given the text about the flags. */
  readonly help: (flags: string, width: number) => string
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

/** Finds a browser command by its name, spelled with `-` or `_`. */
export const findEntry = (word: string, manifest: Manifest): CommandEntry | undefined => {
  const name = word.replaceAll('-', '_').toLowerCase()
  return manifest.commands.find((command) => command.name === name)
}

/** Returns the fields that are flags: those that some form does not set. */
export const flagsOf = ({ entry: { params }, preset, forms }: NamedCommand): Param[] =>
  params.filter(({ name }) => !(name in preset) && !forms.every((form) => form.includes(name)))

/** Returns the fields of the request that are flags of the batch. */
export const batchParams = ({ operations }: Manifest): Param[] =>
  operations
    .find(({ name }) => name === 'runCommands')!
    .params.filter(({ name }) => name !== 'commands' && name !== 'session_id')

/** Converts the parsed words and flags of one command; flags of the batch are kept apart. */
export function toCommand(
  named: NamedCommand,
  typed: TypedArguments,
  cwd: string,
): TypedBatch & { commands: [TypedCommand] } {
  const { entry, preset } = named
  const own = flagsOf(named)
  const given = own.map((param) => [param.name, flagValue(param, typed.flags, cwd)] as const)
  const words = wordFields(named, typed.words, cwd)
  const twice = given.find(([name, value]) => value !== undefined && name in words)
  if (twice)
    throw new BaxError('invalid_request', `${kebab(twice[0])} is given twice: as a word and as a flag`, {
      hint: `leave out --${kebab(twice[0])}`,
    })
  const flagged = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const { output: _, ...flags } = typed.flags
  const output = textFlag(typed.flags, 'output')
  const ownFlags = new Set(own.map(attributeOf))
  return {
    commands: [
      { command: entry.name, data: { ...preset, ...words, ...flagged }, ...(output !== undefined && { output }) },
    ],
    flags: Object.fromEntries(Object.entries(flags).filter(([name]) => !ownFlags.has(name))),
  }
}

/** Returns the fields that the positional words set. */
function wordFields(
  { entry: { name, params }, forms }: NamedCommand,
  words: TypedArguments['words'],
  cwd: string,
): Record<string, unknown> {
  const texts = words.flat().filter((word) => word !== undefined)
  const form = formFor(forms, texts, params)
  if (!form)
    throw new BaxError(
      'invalid_request',
      `${kebab(name)} cannot be called with ${texts.length === 1 ? 'one word' : `${texts.length} words`}`,
      {
        hint: `use ${forms.map((fields) => usageOf(name, fields)).join(' or ')}`,
      },
    )
  const values = form.map((field, at) => {
    const param = params.find((one) => one.name === field)!
    const fault = elementAsFile(param, texts[at])
    if (fault) throw new BaxError('invalid_request', fault)
    const takesRest = param.type === 'string[]' && at === form.length - 1
    return [field, wordValue(param, takesRest ? texts.slice(at) : texts[at], cwd)] as const
  })
  return Object.fromEntries(values)
}

const usageOf = (name: string, fields: readonly string[]): string =>
  `"${[name, ...fields.map((field) => `<${field}>`)].join(' ').replaceAll('_', '-')}"`

/** Joins separately parsed commands into one batch. */
export const joinBatches = (parts: readonly TypedBatch[]): TypedBatch => ({
  commands: parts.flatMap(({ commands }) => commands ?? []),
  flags: Object.assign({}, ...parts.map(({ flags }) => flags)) as TypedArguments['flags'],
})

/** Returns the fields of a request that its flags set. */
export function flagFields(params: readonly Param[], flags: TypedArguments['flags'], cwd: string): Unchecked {
  const entries = params.map((param) => [param.name, flagValue(param, flags, cwd)] as const)
  return uncheckedFields(Object.fromEntries(entries.filter(([, value]) => value !== undefined)))
}

/** Builds the error of a `then` without a command on one side. */
export const emptySegment = (): BaxError =>
  new BaxError('invalid_request', 'a browser command is missing beside `then`', {
    hint: 'put "then" between two commands; to pass it as a value, use "bax do -"',
  })
