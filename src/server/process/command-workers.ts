/**
 * Warm processes that run commands for launchers (`src/launcher`). Launchers connect to a socket of the engine, which
 * passes each connection to an idle process. Each process runs one command at a time.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { rename, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { fileIdentity } from './folder-checks.ts'

export interface CommandWorker {
  readonly program: string
  readonly arguments: readonly string[]
}

/** Tells a launcher to run its command in Node. */
const useNode = Buffer.from('F\x04\0\0\0busy')

/** Longest path of the socket in bytes: 103 on every system, less the suffix under which it is created. */
const longestPath = 99

/** Opens them in a state folder; undefined if its path is too long for a socket: launchers use Node then. */
export async function openCommandWorkers(worker: CommandWorker | undefined, stateDir: string, log: Log) {
  const path = join(stateDir, 'cli.sock')
  if (!worker || Buffer.byteLength(path) > longestPath) return undefined
  const workers = new CommandWorkers(worker, log)
  await workers.listen(path)
  return workers
}

class CommandWorkers {
  readonly #worker: CommandWorker
  readonly #log: Log
  readonly #server = createServer({ pauseOnConnect: true }, (socket) => this.#take(socket))
  /** Idle processes with the timers that end surplus ones; the last one gets the next command. */
  readonly #idle = new Map<ChildProcess, NodeJS.Timeout>()
  readonly #all = new Set<ChildProcess>()
  /** Processes that have been ready at least once. */
  readonly #started = new WeakSet<ChildProcess>()
  readonly #waiting = new Map<Socket, NodeJS.Timeout>()
  #socket: { readonly path: string; readonly identity: string | undefined } | undefined
  #isClosing = false

  constructor(worker: CommandWorker, log: Log) {
    this.#worker = worker
    this.#log = log
  }

  /** Listens in the state folder, and starts the first process soon. */
  async listen(path: string): Promise<void> {
    // Closing a listener deletes the path it was created at, which in a replaced folder can belong to another engine.
    const bound = `${path}.new`
    await rm(bound, { force: true })
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(bound, resolve))
    await rename(bound, path)
    this.#socket = { path, identity: fileIdentity(path) }
    // The command that started the engine needs the processor first.
    setTimeout(
      () => this.#all.size === 0 && !this.#isClosing && this.#spawn(),
      limits.engine.commandWorkerDelayMs,
    ).unref()
  }

  /** Lets running commands finish within `ms`, then ends all processes. */
  async close(ms: number): Promise<void> {
    this.#isClosing = true
    this.#server.close()
    await this.#removeSocket()
    for (const socket of this.#waiting.keys()) this.#refuse(socket)
    const busy = [...this.#all].filter((child) => !this.#idle.has(child))
    for (const child of this.#idle.keys()) child.kill('SIGKILL')
    const ended = Promise.all(busy.map((child) => new Promise((resolve) => child.once('exit', resolve))))
    await withDeadline(ended, { ms, value: undefined })
    for (const child of this.#all) child.kill('SIGKILL')
  }

  async #removeSocket(): Promise<void> {
    if (!this.#socket) return
    const { path, identity } = this.#socket
    if (fileIdentity(path) === identity) await rm(path, { force: true })
  }

  #take(socket: Socket): void {
    socket.on('error', () => {
      // A launcher that has gone; the connection closes.
    })
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
      // One stays ready, unless they cannot start.
      if (this.#all.size === 0 && this.#started.has(child) && !this.#isClosing) this.#spawn()
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
