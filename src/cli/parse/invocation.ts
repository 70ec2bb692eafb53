/** One call of a terminal command, and its parsing. */
import type { Command } from 'commander'
import type { Examples } from '../../core/operation/examples.ts'
import type { Context } from '../context.ts'
import type { MarkedOutput } from '../output/boundaries.ts'
import { addBoundariesFlag, addGlobalFlags, newCommand, parse } from '../../lines/flags.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'
import type { CliManifest, Place } from './table-entry.ts'
import { globalFlags, type TypedArguments } from '../../lines/values.ts'

export interface Invocation {
  readonly io: Io
  readonly manifest: CliManifest
  /** Name of the command, such as `session create`. */
  readonly words: string
  readonly summary: string
  readonly examples: readonly string[]
  /** Arguments without the name of the command. */
  readonly argv: readonly string[]
  /** Standard output, for commands that print text of pages. */
  readonly marked?: MarkedOutput
}

/** A command that is not derived from an operation: everything about it, in the file with its name in `commands`. */
export interface TerminalCommand {
  /** Name and positional words, as in `session use [id|name]`. */
  readonly cli: string
  readonly summary: string
  /** By default those of the operation with the same name. */
  readonly example?: Examples
  /** Whether help and completion omit it, because only programs call it. */
  readonly hidden?: true
  readonly place?: Place
  /** Runs it and returns its exit code, by default 0. */
  readonly run: (invocation: Invocation) => Promise<number | void>
}

/** Parses the arguments with the flags that `build` adds, and reads the settings. */
export function parseInvocation(
  invocation: Invocation,
  build: (command: Command) => void = () => {},
): { context: Context; typed: TypedArguments } {
  const { words, summary, examples, argv, marked } = invocation
  const command = newCommand(`bax ${words}`, summary)
  build(command)
  if (marked) addBoundariesFlag(command)
  addGlobalFlags(command)
  const typed = parse(command, argv, examples)
  return { typed, context: contextOf(invocation, typed.flags) }
}

/** Reads the settings, and turns on the markers around output if they say so. */
export function contextOf({ io, manifest, marked }: Invocation, flags: TypedArguments['flags']): Context {
  const settings = readSettings(globalFlags(flags), io)
  marked?.start(settings, flags['contentBoundaries'] === true)
  return { io, manifest, settings }
}
