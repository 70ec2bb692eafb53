/** The interface between the terminal UI and the command that opens it: terminal, engine access and CLI functions. */
import type { Transport } from '../client/transport.ts'
import type { JobControl } from '../core/process/job-control.ts'
import type { Manifest } from '../operations/manifest.ts'

/** One typed command, with the names of the HTTP API. */
export interface TypedCommand {
  readonly command: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A parsed command line. */
export interface ParsedLine {
  readonly commands: readonly TypedCommand[]
  /**
   * Sends the commands. Returns the output of `bax do`, also when commands fail; throws when the engine refuses the
   * request.
   */
  run(transport: Transport, sessionId: string, signal: AbortSignal): Promise<{ success: boolean; text: string }>
}

/** The terminal that the UI runs in. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface TuiHost {
  readonly terminal: Terminal
  /** Missing where there is no job to control, as in tests. */
  readonly job?: JobControl
  /** Aborted by signals to the process. */
  readonly signal: AbortSignal
  readonly manifest: Manifest
  readonly home: { readonly kind: 'server' | 'local' | 'embedded'; readonly name: string }
  /** Starts an engine when none is running. */
  readonly startingTransport: Transport
  /** Leads to the same engine, but never starts one. */
  readonly transport: Transport
  /**
   * Returns why the engine does not answer. An engine that was stopped on purpose is restarted only on request; the UI
   * waits for one that is about to end.
   */
  readonly whyUnreachable: () => 'stopped' | 'ending' | 'lost'
  /** Base folder of typed file paths. */
  readonly cwd: string
  readonly historyFile: string
  /** Parses words as `bax do` does. @throws BaxError `invalid_request` */
  parse(words: readonly string[]): ParsedLine
  /** Returns typed commands as a script for `bax run`. */
  script(commands: readonly TypedCommand[], facts: { name: string }): Promise<string>
  /** Runs a bax command in this terminal, which must be released; returns its exit code. Null with `--embedded`. */
  readonly runBax: ((argv: readonly string[]) => Promise<number>) | null
  /** Log file of the local engine; null for other engines. */
  readonly logFile: string | null
}
