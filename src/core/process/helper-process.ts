/**
 * Runs tasks in a child process, which ends when it is idle and is replaced after a number of tasks: an allocator returns
 * little memory to the system before its process ends.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { BaxError } from '../errors/errors.ts'
import type { HelperAnswer, HelperMessage } from './helper-tasks.ts'
import { rebuiltError } from './thread-tasks.ts'
import type { WorkOptions } from './turns.ts'

export interface HelperOptions {
  /** Noun for errors, such as "the process that reads documents". */
  readonly name: string
  /** The built file that the process runs; see `serveHelper`. */
  readonly program: string
  /** Idle time in milliseconds after which the process ends. */
  readonly idleMs: number
  /** Number of tasks after which another process is started. */
  readonly tasks: number
}

interface Pending<Result> {
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** One process with its tasks. */
interface Helper<Result> {
  readonly child: ChildProcess
  readonly pending: Map<number, Pending<Result>>
  started: number
}

export class HelperProcess<Task, Result> {
  readonly #options: HelperOptions
  #current: Helper<Result> | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: HelperOptions) {
    this.#options = options
  }

  /**
   * Runs a task, which is cloned to the process; `from` and the signal work there, too.
   * @throws the error of the work; the reason of the signal; BaxError `worker_lost` if the process ends.
   */
  async run(task: Task, { from = null, signal }: WorkOptions = {}): Promise<Result> {
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    const helper = (this.#current ??= this.#start())
    const id = helper.started++
    if (helper.started >= this.#options.tasks) this.#current = undefined
    const { child, pending } = helper
    const abort = () => {
      pending.get(id)?.reject(signal!.reason)
      if (child.connected) child.send({ id } satisfies HelperMessage<Task>, () => {})
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await new Promise<Result>((resolve, reject) => {
        pending.set(id, { resolve, reject })
        setAlive(child, true)
        child.send({ id, task, from } satisfies HelperMessage<Task>, (error) => {
          if (error) reject(this.#lost(error))
        })
      })
    } finally {
      signal?.removeEventListener('abort', abort)
      pending.delete(id)
      if (pending.size === 0) this.#rest(helper)
    }
  }

  #start(): Helper<Result> {
    const child = fork(this.#options.program, [], {
      serialization: 'advanced',
      execArgv: [],
      // It reads untrusted documents, and needs no secrets.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const helper: Helper<Result> = { child, pending: new Map(), started: 0 }
    child.on('message', ({ id, ...answer }: HelperAnswer<Result>) => {
      const task = helper.pending.get(id)
      if ('result' in answer) task?.resolve(answer.result)
      else task?.reject('refused' in answer ? rebuiltError(answer.refused) : answer.fault)
    })
    const onLost = (reason: Error) => {
      if (this.#current === helper) this.#current = undefined
      for (const { reject } of helper.pending.values()) reject(this.#lost(reason))
    }
    child.on('error', onLost)
    child.on('exit', (code, signal) => onLost(new Error(`it ended with ${signal ?? `code ${code}`}`)))
    return helper
  }

  #lost(cause: Error): BaxError {
    return new BaxError('worker_lost', `${this.#options.name} ended`, { cause, hint: 'repeat the request' })
  }

  /** Lets this process exit, and ends the idle one later, or at once if it was replaced. */
  #rest(helper: Helper<Result>): void {
    const { child } = helper
    setAlive(child, false)
    if (this.#current !== helper) return void child.kill('SIGKILL')
    this.#idle = setTimeout(() => {
      this.#current = undefined
      child.kill('SIGKILL')
    }, this.#options.idleMs).unref()
  }
}

/** Sets whether a process keeps this one running. */
function setAlive(child: ChildProcess, isAlive: boolean): void {
  const change = isAlive ? 'ref' : 'unref'
  child[change]()
  child.channel?.[change]()
}
