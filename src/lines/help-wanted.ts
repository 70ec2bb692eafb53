/** The request of a command line for help. */
import type { Command } from 'commander'

/** Thrown for --help. */
export class HelpWanted extends Error {
  /** Returns the help for a width in characters. */
  readonly text: (width: number) => string
  /** Definition of the command. */
  readonly command: Command
  constructor(text: (width: number) => string, command: Command) {
    super('help')
    this.name = 'HelpWanted'
    this.text = text
    this.command = command
  }
}

/** Whether an error is a request for help. `instanceof` fails: several bundles have a copy of the class. */
export const isHelpWanted = (error: unknown): error is HelpWanted =>
  error instanceof Error && error.name === 'HelpWanted'
