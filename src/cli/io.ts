/** Streams, environment and signals of a terminal command; `main.ts` passes those of the process, tests their own. */
import type { Socket } from 'node:net'
import type { Transport } from '../client/transport.ts'
import type { ErrorCode } from '../core/errors/errors.ts'
import type { JobControl } from '../core/process/job-control.ts'
import type { ProcessErrors } from '../core/process/unhandled-errors.ts'
import { withVisibleControls } from './output/terminal-text.ts'

/** Signals that end a command cleanly: ^C, a request to end, and a closed terminal. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type StopSignal = (typeof stopSignals)[number]

/** Returns the exit code that shells expect of a program ended by a signal. */
export const exitOf = (name: StopSignal): number => ({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })[name]

export interface Output {
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** Present on streams. An output without them accepts everything at once and never calls back. */
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
  /** Delivers every key as it is pressed, including ^C; terminals only. */
  setRawMode?(raw: boolean): unknown
}

export interface Io {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the process is asked to stop; the reason is the name of the signal, a `StopSignal`. */
  readonly signal: AbortSignal
  /** Called with the code of the error that ends the command; the exit code stands for several. */
  readonly onFailure?: (code: ErrorCode) => unknown
  readonly host: Host
}

/** The process that runs the command. */
interface Host {
  readonly pid: number
  readonly uid: number | undefined
  readonly platform: NodeJS.Platform
  readonly nodeVersion: string
  /** Path of the manifest that the build wrote; absent when the program runs from source. */
  readonly manifest?: string
  /** Program and leading arguments that start bax again, for the engine in the background. */
  readonly self: readonly [program: string, ...leading: string[]]
  /** Program of the warm processes that run commands for launchers; absent if the program runs from source. */
  readonly commandWorker?: string
  /** Native launcher of this build, which may be missing. */
  readonly launcher?: string
  /** Absent if the command does not run in its own process. */
  readonly job?: JobControl
  readonly faults?: ProcessErrors
  /** Makes this process run short commands of launchers itself, once it is an engine. */
  readonly inside?: (engine: OwnEngine) => Promise<RunInside>
  /** Present if the command runs inside the local engine. */
  readonly engine?: OwnEngine
}

/** The local engine that a process is. */
export interface OwnEngine {
  readonly stateDir: string
  readonly browser: string | undefined
  /** Digest of its proxies. */
  readonly proxies?: string
  readonly transport: Transport
}

/** Runs the command of a launcher inside the engine, or tells it to connect to a command worker. */
export type RunInside = (socket: Socket) => Promise<void>

/** Thrown after the reader of an output has closed it, which ends a command quietly. */
export class ReaderGone extends Error {
  constructor(cause?: Error) {
    super('the output is closed', { cause })
    this.name = 'ReaderGone'
  }
}

/** Prints a result to stdout. */
export const print = (io: Io, text: string): void => void io.stdout.write(`${text}\n`)

/** Prints a line for humans to stderr. */
export const note = ({ stderr }: Io, text: string): void => void withVisibleControls(stderr).write(`${text}\n`)

/** Reads all of standard input. */
export async function readStdinBytes({ stdin }: Io): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Reads all of standard input as UTF-8 text. */
export const readStdin = async (io: Io): Promise<string> => (await readStdinBytes(io)).toString('utf8')
