/** The CLI in tests: `main(argv, io)` from source, and the built program as separate processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from '../../src/cli/program.ts'
import type { Io } from '../../src/cli/io.ts'
import { builtOnce } from './build-once.ts'
import { recordCommandLine, recordRequests } from './calls.ts'
import { noConfig } from './no-config.ts'
import { tied } from './tied.ts'

export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Standard output as bytes, for images. */
  readonly bytes: Buffer
}

export interface CliOptions {
  readonly env?: Record<string, string | undefined>
  /** Text, or for a command in this process the chunks as they arrive. */
  readonly stdin?: string | AsyncIterable<string>
  readonly cwd?: string
  readonly signal?: AbortSignal
  /** Called with each chunk written to standard output. */
  readonly onOutput?: (text: string) => unknown
  /** Called with each chunk written to standard error. */
  readonly onError?: (text: string) => unknown
  /** Whether standard output and error claim to be a terminal. */
  readonly tty?: boolean
  readonly columns?: number
  /** Whether a real process starts through the launcher. */
  readonly launched?: boolean
  /** User ID of the process; by default its own. */
  readonly uid?: number
  /** How the background engine is started; without it none can be. */
  readonly self?: Io['host']['self']
}

/** Runs one command line in this process. */
export async function bax(argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const out: Buffer[] = []
  const err: Buffer[] = []
  const sink = (chunks: Buffer[], onWrite?: (text: string) => unknown) => ({
    write(chunk: string | Uint8Array) {
      chunks.push(Buffer.from(chunk as string))
      onWrite?.(String(chunk))
    },
    isTTY: options.tty ?? false,
    // Spinners call these on a terminal.
    ...(options.tty && { cursorTo: () => true, clearLine: () => true, moveCursor: () => true }),
    ...(options.columns && { columns: options.columns }),
  })
  const code = await main(argv, {
    stdin: (async function* () {
      if (typeof options.stdin === 'string') yield options.stdin
      else if (options.stdin) yield* options.stdin
    })(),
    stdout: sink(out, options.onOutput),
    stderr: sink(err, options.onError),
    env: { BAX_CONFIG: noConfig, ...options.env },
    cwd: options.cwd ?? tmpdir(),
    signal: options.signal ?? new AbortController().signal,
    host: {
      pid: process.pid,
      uid: options.uid ?? process.getuid?.(),
      platform: process.platform,
      nodeVersion: process.version,
      self: options.self ?? ['/nonexistent/bax'],
    },
  })
  if (code === 0) await recordCommandLine(argv)
  return {
    code,
    stdout: Buffer.concat(out).toString(),
    stderr: Buffer.concat(err).toString(),
    bytes: Buffer.concat(out),
  }
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<CliResult>
  /** Resolves with all of stderr once it contains the text. */
  waitForStderr(text: string): Promise<string>
}

export interface BuiltBax {
  /** Path of the built program. */
  readonly program: string
  /** Path of the launcher in front of a running engine; it is missing on machines without a C compiler. */
  readonly launcher: string
  start(argv: readonly string[], options?: CliOptions): Running
  run(argv: readonly string[], options?: CliOptions): Promise<CliResult>
  /** Creates a state folder for one engine, which is stopped and removed at the end. */
  stateDir(): Promise<string>
  close(): Promise<void>
}

/** Whether real processes start through the launcher, unless a test says otherwise. */
const launched = process.env['BAX_TEST_LAUNCHER'] === '1'

/** Copies the built program into a separate folder, inside the checkout so that its packages are found. */
export async function buildBax(): Promise<BuiltBax> {
  const parent = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'bax-cli-'))
  await cp(await builtOnce(), join(folder, 'dist'), { recursive: true, preserveTimestamps: true })
  const program = join(folder, 'dist', 'main.js')
  const launcher = join(folder, 'dist', `launcher-${process.arch}`)
  await cp(fileURLToPath(new URL('../../bin', import.meta.url)), join(folder, 'bin'), { recursive: true })
  const states: string[] = []
  const start = (argv: readonly string[], options: CliOptions = {}) =>
    startProcess((options.launched ?? launched) ? [launcher] : [process.execPath, program], argv, options)
  const run = (argv: readonly string[], options: CliOptions = {}) => start(argv, options).ended
  return {
    program,
    launcher,
    start,
    run,
    async stateDir() {
      const path = await mkdtemp(join(tmpdir(), 'bax-state-'))
      states.push(path)
      return path
    },
    async close() {
      const isUsed = (path: string) => ['engine.json', 'engine.sock'].some((name) => existsSync(join(path, name)))
      for (const path of states) {
        if (isUsed(path)) await run(['engine', 'stop', '--state-dir', path])
        await rm(path, { recursive: true, force: true })
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Environment of processes that use neither settings nor data of the user who runs the tests. */
export const processEnv = {
  PATH: process.env['PATH']!,
  HOME: process.env['HOME']!,
  XDG_DATA_HOME: process.env['XDG_DATA_HOME']!,
  BAX_CONFIG: noConfig,
}

function startProcess(
  [program, ...leading]: string[],
  argv: readonly string[],
  { env, stdin, cwd }: CliOptions,
): Running {
  const child = spawn(...tied(program!, [...leading, ...argv]), {
    env: { ...processEnv, ...env },
    cwd: cwd ?? tmpdir(),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  const waiting = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    err.push(chunk)
    for (const check of waiting) check()
  })
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    // A program may end without reading its whole input.
    if (error.code !== 'EPIPE') throw error
  })
  child.stdin.end(typeof stdin === 'string' ? stdin : '')
  const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString()
  const closed = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? (signal === null ? -1 : -2)))
  })
  const ended = closed.then(async (code): Promise<CliResult> => {
    if (code === 0) await recordCommandLine(argv)
    recordRequests(text(err))
    return { code, stdout: text(out), stderr: text(err), bytes: Buffer.concat(out) }
  })
  return {
    child,
    ended,
    waitForStderr: (wanted) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!text(err).includes(wanted)) return
          waiting.delete(check)
          resolve(text(err))
        }
        waiting.add(check)
        void ended.then(() => reject(new Error(`ended without printing ${wanted}: ${text(err)}`)))
        check()
      }),
  }
}
