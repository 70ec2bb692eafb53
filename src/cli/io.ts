/** What a terminal command may touch of the world; `main.ts` gives the process's, tests give their own. */
import type { JobControl } from '../core/process/job-control.ts'
import type { ProcessFaults } from '../core/process/orphans.ts'

/** Signals that end a command in order: ^C, a request to end, and a closed terminal. */
export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type StopSignal = (typeof stopSignals)[number]

/** Returns the exit code that shells expect of a program which a signal has ended. */
export const exitOf = (name: StopSignal): number => ({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })[name]

export interface Output {
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** Those of a stream; an output without them takes everything at once, and calls nothing back. */
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

interface Input extends AsyncIterable<string | Uint8Array> {
  readonly isTTY?: boolean
  /** Hands over every key as it is pressed, ^C too; only a terminal has it. */
  setRawMode?(raw: boolean): unknown
}

export interface Io {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Aborted when the process is told to stop; the reason is the name of the signal, a `StopSignal`. */
  readonly signal: AbortSignal
  readonly host: Host
}

/** The process that runs the command. */
interface Host {
  readonly pid: number
  readonly uid: number | undefined
  readonly platform: NodeJS.Platform
  readonly nodeVersion: string
  /** The lists of operations and commands as the build wrote them; absent when the program runs from source. */
  readonly manifest?: string
  /** The program and its leading arguments that start bax again, for the engine in the background. */
  readonly self: readonly [program: string, ...leading: string[]]
  /** Left out where the command is not a process of its own. */
  readonly job?: JobControl
  readonly faults?: ProcessFaults
}

/** Prints a result. */
export const print = (io: Io, text: string): void => void io.stdout.write(`${text}\n`)

/** Tells the person at the terminal something that is not the result. */
export const note = (io: Io, text: string): void => void io.stderr.write(`${text}\n`)

/** All of standard input as text. */
export async function readStdin(io: Io): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
