/** One call of a terminal command: its words, what was typed after them, and the way from there to a context. */
import type { Command } from 'commander'
import type { Manifest } from '../../operations/manifest.ts'
import type { Context } from '../context.ts'
import { addGlobalFlags, newCommand, parse } from './flags.ts'
import type { Io } from '../io.ts'
import { readSettings } from '../settings.ts'
import { globalFlags, type Typed } from './values.ts'

export interface Invocation {
  readonly io: Io
  readonly manifest: Manifest
  /** The words that chose the command, e.g. `session create`. */
  readonly words: string
  readonly summary: string
  readonly example?: string
  /** What was typed beside them. */
  readonly argv: readonly string[]
}

/** A command written by hand; loaded when it is called. */
export interface TerminalCommand {
  /** Returns the exit code. */
  run(invocation: Invocation): Promise<number>
}

/** Parses what was typed with the flags that `build` adds, and reads the settings. */
export function begin(
  invocation: Invocation,
  build: (command: Command) => void = () => {},
): { context: Context; typed: Typed } {
  const { io, manifest, words, summary, example, argv } = invocation
  const command = newCommand(`bax ${words}`, summary)
  build(command)
  addGlobalFlags(command)
  const typed = parse(command, argv, example)
  return { typed, context: { io, manifest, settings: readSettings(globalFlags(typed.flags), io) } }
}
