/** `bax serve` as a separate process, for tests that read its log, end it or kill it. */
import type { ChildProcess } from 'node:child_process'
import type { BuiltBax, CliOptions, CliResult } from './cli.ts'
import { openServedFleet, servedFlags } from './served-fleet.ts'

/** One line of the server's log. */
export interface LogLine {
  readonly level: string
  readonly time: string
  readonly message: string
  readonly [fact: string]: unknown
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly stateDir: string
  readonly child: ChildProcess
  readonly ended: Promise<CliResult>
  /** Resolves with the first matching line of the log, past or future. */
  waitForLog(wanted: (line: LogLine) => boolean): Promise<LogLine>
  /** Sends JSON; returns the response with its parsed body. */
  request(method: string, path: string, body?: unknown): Promise<Answer>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Tests know the shape of the response.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Starts a server on a free port, with a new state folder by default. */
export async function serve(
  built: BuiltBax,
  flags: readonly string[] = [],
  { stateDir, env }: { stateDir?: string; env?: CliOptions['env'] } = {},
): Promise<RunningServer> {
  const folder = stateDir ?? (await built.stateDir())
  const fleet = await openServedFleet(built, folder, env)
  // A fast machine sends more requests with one key than a server allows without this flag.
  const own = [...servedFlags, '--rate', '0']
  const running = built.start(['serve', ...own, ...(fleet?.flags ?? []), ...flags], {
    env: { BAX_STATE_DIR: folder, ...env },
  })
  const ended = running.ended.finally(() => fleet?.close())
  const log = logOf(running.child, ended)
  const { message } = await log((line) => line.message.startsWith('bax is listening on '))
  const url = message.slice('bax is listening on '.length)
  return { ...running, ended, url, stateDir: folder, waitForLog: log, request: (...args) => request(url, ...args) }
}

/** Stops a server with SIGTERM, and returns its exit code. */
export async function stop(server: RunningServer): Promise<number> {
  server.child.kill('SIGTERM')
  return (await server.ended).code
}

export async function request(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

function logOf(child: ChildProcess, ended: Promise<CliResult>): RunningServer['waitForLog'] {
  const lines: LogLine[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop()!
    // Other lines report a failure to start, which is part of the exit error.
    lines.push(...parts.filter((part) => part.startsWith('{')).map((part) => JSON.parse(part) as LogLine))
    for (const check of waiting) check()
  })
  return (wanted) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = lines.find(wanted)
        if (!found) return
        waiting.delete(check)
        resolve(found)
      }
      waiting.add(check)
      void ended.then(({ stderr }) => reject(new Error(`the server ended without printing ${wanted}: ${stderr}`)))
      check()
    })
}
