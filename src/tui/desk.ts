/** What the terminal UI is given by the command that opens it: a terminal, a way to the engine, and the house's other tools. */
import type { Transport } from '../client/transport.ts'
import type { JobControl } from '../core/process/job-control.ts'
import type { Manifest } from '../operations/manifest.ts'

/** How one line of browser commands ended. */
interface Ran {
  readonly success: boolean
  /** What the command line would have printed, failures included. */
  readonly text: string
}

/** One command as it was typed, in the words of the wire. */
export interface TypedCommand {
  readonly command: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A command line that was understood. */
export interface Line {
  readonly commands: readonly TypedCommand[]
  /** Sends it. A failure of a command is a result; what the engine refuses is thrown. */
  run(transport: Transport, sessionId: string, signal: AbortSignal): Promise<Ran>
}

/** The terminal that the UI runs in. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Desk {
  readonly terminal: Terminal
  /** Left out where there is no job to control, as in tests. */
  readonly job?: JobControl
  /** Aborted when the user interrupts from outside. */
  readonly signal: AbortSignal
  readonly manifest: Manifest
  readonly home: { readonly kind: 'server' | 'local' | 'embedded'; readonly name: string }
  /** Both lead to the same home; only `begin` starts an engine when none runs. */
  readonly begin: Transport
  readonly join: Transport
  /**
   * What became of an engine that does not answer: one that was stopped on purpose is not started again unasked, and one
   * that is about to end is waited for.
   */
  readonly fate: () => 'stopped' | 'ending' | 'lost'
  /** Files that are named by what is typed start here. */
  readonly cwd: string
  readonly historyFile: string
  /** Reads words as `bax do` does. @throws BaxError `invalid_request` that says what is wrong. */
  parse(words: readonly string[]): Line
  /** A script for `bax run` of commands that were typed. */
  script(commands: readonly TypedCommand[], facts: { name: string }): Promise<string>
  /** Runs another bax command in this terminal, which must be free; its exit code. Null where it could not reach this home. */
  readonly child: ((argv: readonly string[]) => Promise<number>) | null
  /** Where the local engine writes its log; null when the engine is elsewhere. */
  readonly logFile: string | null
}
