/** Types of the table of terminal commands, which the manifest of the build has without their code. */
import type { Manifest, OperationEntry } from '../../operations/manifest.ts'

/**
 * Place of a command that does not run in a command worker of the engine. In a process of its own: it owns the terminal,
 * runs for long, ends the engine or reports on its own process. In the engine, unless its arguments name files: it needs
 * nothing else of its caller.
 */
export type Place = 'own process' | 'engine'

export interface TableEntry {
  /** Name of the command: `scrape`, `session create`. */
  readonly words: string
  /** Positional words as the help shows them, such as `<session-id>`. */
  readonly rest: string
  readonly summary: string
  readonly examples: readonly string[]
  readonly hidden?: boolean
  readonly place?: Place
  /** Present if the command is derived from an operation. */
  readonly operation?: OperationEntry
}

/** The manifest of the command line. */
export interface CliManifest extends Manifest {
  /** Commands that are not derived from an operation. */
  readonly terminal: readonly TableEntry[]
}
