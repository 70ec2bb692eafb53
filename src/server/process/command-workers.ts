/**
 * Runs commands for launchers (`src/launcher`), which connect to a socket of the engine. Short ones run in this process.
 * Others connect to a second socket, whose connections are passed, unread, to warm processes. Each of these runs one
 * command at a time.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { rename, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { DirectCalls } from '../request/direct.ts'
import { fileIdentity } from './folder-checks.ts'

export interface CommandWorker {
  readonly program: string
  readonly arguments: readonly string[]
  /** Loads what runs short commands in this process; see `RunInside` in `cli/io.ts`. */
  readonly inside: (fetch: Fetch, direct: DirectCalls) => Promise<(socket: Socket) => Promise<void>>
}

type Fetch = (request: Request) => Response | Promise<Response>

/** Tells a launcher to run its command in Node. */
const useNode = Buffer.from('F\x04\0\0\0busy')

/** Sockets in the state folder: the one that launchers try first, and that of command workers. */
const [engineSocket, workerSocket] = ['cli.sock', 'worker.sock']

/** Longest path of a socket in bytes: 103 on every system, less the suffix under which it is created. */
const longestPath = 99

/** Opens both in a state folder; undefined if its path is too long for a socket: launchers use Node then. */
export async function openLaunched(
  worker: CommandWorker | undefined,
  stateDir: string,
  { fetch, direct, log }: { readonly fetch: Fetch; readonly direct: DirectCalls; readonly log: Log },
) {
  if (!worker || Buffer.byteLength(join(stateDir, workerSocket)) > longestPath) return undefined
  const workers = new CommandWorkers(worker, log)
  const inside = new InsideCommands(() => worker.inside(fetch, direct), log)
  const listeners = [
    await listen(workers, join(stateDir, workerSocket)),
    await listen(inside, join(stateDir, engineSocket)),
  ]
  return {
    /** Lets running commands finish within `ms`, then ends all processes. */
    async close(ms: number): Promise<void> {
      await Promise.all(listeners.map((one) => one.close()))
      await Promise.all([workers.close(ms), inside.close(ms)])
    },
  }
}

interface Taker {
  take(socket: Socket): void
}

/** Listens in the state folder. */
async function listen(taker: Taker, path: string) {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {
      // A launcher that has gone; the connection closes.
    })
    taker.take(socket)
  })
  // Closing a listener deletes the path it was created at, which in a replaced folder can belong to another engine.
  const bound = `${path}.new`
  await rm(bound, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(bound, resolve))
  await rename(bound, path)
  const identity = fileIdentity(path)
  return {
    async close() {
      server.close()
      if (fileIdentity(path) === identity) await rm(path, { force: true })
    },
  }
}

/** Runs commands in this process. */
class InsideCommands implements Taker {
  readonly #running = new Set<Promise<unknown>>()
  readonly #load: () => ReturnType<CommandWorker['inside']>
  readonly #log: Log

  constructor(load: () => ReturnType<CommandWorker['inside']>, log: Log) {
    let loading: ReturnType<CommandWorker['inside']> | undefined
    this.#load = () => (loading ??= load())
    this.#log = log
    // The command that started the engine needs the processor first.
    setTimeout(() => void this.#load().catch(this.#onFailure), limits.engine.commandLoadDelayMs).unref()
  }

  readonly #onFailure = (error: Error) =>
    this.#log('error', 'commands cannot run in the engine', { error: error.message })

  take(socket: Socket): void {
    const running = this.#load()
      .then((run) => run(socket))
      .catch((error: Error) => {
        this.#onFailure(error)
        socket.end(useNode)
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async close(ms: number): Promise<void> {
    await withDeadline(Promise.all(this.#running), { ms, value: undefined })
  }
}

class CommandWorkers implements Taker {
  readonly #worker: CommandWorker
  readonly #log: Log
  /** Idle processes with the timers that end surplus ones; the last one gets the next command. */
  readonly #idle = new Map<ChildProcess, NodeJS.Timeout>()
  readonly #all = new Set<ChildProcess>()
  /** Processes that have been ready at least once. */
  readonly #started = new WeakSet<ChildProcess>()
  readonly #waiting = new Map<Socket, NodeJS.Timeout>()
  #isClosing = false

  constructor(worker: CommandWorker, log: Log) {
    this.#worker = worker
    this.#log = log
  }

  /** Lets running commands finish within `ms`, then ends all processes. */
  async close(ms: number): Promise<void> {
    this.#isClosing = true
    for (const socket of this.#waiting.keys()) this.#refuse(socket)
    const busy = [...this.#all].filter((child) => !this.#idle.has(child))
    for (const child of this.#idle.keys()) child.kill('SIGKILL')
    const ended = Promise.all(busy.map((child) => new Promise((resolve) => child.once('exit', resolve))))
    await withDeadline(ended, { ms, value: undefined })
    for (const child of this.#all) child.kill('SIGKILL')
  }

  take(socket: Socket): void {
    if (this.#isClosing) return void socket.end(useNode)
    const child = [...this.#idle.keys()].at(-1)
    if (child) return this.#hand(child, socket)
    if (this.#all.size < limits.engine.commandWorkers) this.#spawn()
    this.#waiting.set(
      socket,
      setTimeout(() => this.#refuse(socket), limits.engine.commandQueueMs),
    )
  }

  #refuse(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket))
    this.#waiting.delete(socket)
    socket.end(useNode)
  }

  #hand(child: ChildProcess, socket: Socket): void {
    clearTimeout(this.#idle.get(child))
    this.#idle.delete(child)
    child.send('run', socket, (error) => {
      if (error) socket.destroy()
    })
  }

  #spawn(): void {
    const child = fork(this.#worker.program, [...this.#worker.arguments], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#all.add(child)
    child.on('message', () => this.#onIdle(child))
    child.on('error', (error) => this.#log('warn', 'a command worker failed', { error: error.message }))
    child.on('exit', (code, signal) => {
      this.#all.delete(child)
      // Unless they cannot start.
      if (this.#waiting.size > 0 && this.#started.has(child) && !this.#isClosing) this.#spawn()
      clearTimeout(this.#idle.get(child))
      this.#idle.delete(child)
      if (!this.#isClosing) this.#log('info', 'a command worker ended', { code, signal })
    })
  }

  #onIdle(child: ChildProcess): void {
    this.#started.add(child)
    if (this.#isClosing) return void child.kill('SIGKILL')
    const [next] = this.#waiting.keys()
    if (next) {
      clearTimeout(this.#waiting.get(next))
      this.#waiting.delete(next)
      return this.#hand(child, next)
    }
    const endSurplus = () => this.#idle.size > 1 && child.kill('SIGKILL')
    this.#idle.set(child, setTimeout(endSurplus, limits.engine.commandWorkerIdleMs).unref())
  }
}
