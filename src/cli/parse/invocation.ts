/** One call of a terminal command, and its parsing. */
import type { Command } from 'commander'
import type { Manifest } from '../../operations/manifest.ts'
import type { Context } from '../context.ts'
import { addGlobalFlags, newCommand, parse } from './flags.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'
import { globalFlags, type TypedArguments } from './values.ts'

export interface Invocation {
  readonly io: Io
  readonly manifest: Manifest
  /** Name of the command, such as `session create`. */
  readonly words: string
  readonly summary: string
  readonly example?: string
  /** Arguments without the name of the command. */
  readonly argv: readonly string[]
}

/** Runs a custom command and returns its exit code, by default 0. */
export type TerminalCommand = (invocation: Invocation) => Promise<number | void>

/** Parses the arguments with the flags that `build` adds, and reads the settings. */
export function parseInvocation(
  invocation: Invocation,
  build: (command: Command) => void = () => {},
): { context: Context; typed: TypedArguments } {
  const { io, manifest, words, summary, example, argv } = invocation
  const command = newCommand(`bax ${words}`, summary)
  build(command)
  addGlobalFlags(command)
  const typed = parse(command, argv, example)
  return { typed, context: { io, manifest, settings: readSettings(globalFlags(typed.flags), io) } }
}
