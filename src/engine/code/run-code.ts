/** Runs code in a thread of its own, which is ended with the run, and answers its calls. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { KeyRing } from '../../core/access/keys.ts'
import type { Log } from '../../core/config/config.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/call.ts'
import { FairQueue } from '../../core/process/fair-queue.ts'
import { plainError } from '../../core/process/thread-tasks.ts'
import type { CodeInput, CodeResult } from '../../core/shapes/jobs/code.ts'
import { CodeCalls } from './calls.ts'
import { noMemory, timeoutFailure } from './failures.ts'
import { codeFunctions } from '../../operations/code-functions.ts'
import type { CallOutcome, CodeEnd, CodeFailure, CodeTask, FromThread, ToThread } from './messages.ts'
import { CodeSession } from './session.ts'

export interface CodeContext {
  readonly keys: Pick<KeyRing, 'whenLost'>
  readonly log: Log
}

/** @throws BaxError `unsupported` where there are no requests, the reason of the signal of the call */
export async function runCode({ keys, log }: CodeContext, input: CodeInput, call: Call): Promise<CodeResult> {
  const { ask, caller, signal } = call
  if (!ask) throw new BaxError('unsupported', 'code cannot call this engine')
  const task = taskOf(input)
  const over = new AbortController()
  const end = () => over.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  keys.whenLost(caller.keyId, () => over.abort(new BaxError('unauthorized', 'the key was revoked')), over.signal)
  const session = new CodeSession(ask, input)
  const startedAt = performance.now()
  const run = new CodeRun(new CodeCalls(ask, session, input), over.signal, task)
  try {
    signal.throwIfAborted()
    await session.find(over.signal)
    const ended = await run.run()
    over.abort(new BaxError('cancelled', 'the code has ended'))
    return { ...resultOf(ended), ...run.report, duration_ms: Math.round(performance.now() - startedAt) }
  } finally {
    signal.removeEventListener('abort', end)
    over.abort()
    await session
      .close(AbortSignal.timeout(limits.pool.closeMs))
      .catch((error: unknown) => log('warn', `the session of a code stays open: ${asBaxError(error).message}`))
  }
}

/** @throws BaxError `invalid_request` for a function that does not exist */
function taskOf({ code, functions, args, ...input }: CodeInput): CodeTask {
  const at = functions?.findIndex((name) => !codeFunctions.has(name)) ?? -1
  if (at !== -1) {
    const message = `is no function: ${JSON.stringify(functions![at])}${didYouMean(functions![at]!, codeFunctions.keys())}`
    const path = `functions[${at}]`
    throw new BaxError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
  }
  return {
    code,
    functions: functions ?? [...codeFunctions.keys()],
    args: JSON.stringify(args ?? {}),
    timeoutMs: input.timeout_ms,
    memoryMb: input.memory_mb,
    maxCalls: input.max_calls,
    maxOutputChars: input.max_output_chars,
  }
}

function resultOf(end: CodeEnd): Omit<CodeResult, 'output' | 'calls' | 'duration_ms'> {
  if ('result' in end) return { success: true, result: JSON.parse(end.result) as unknown }
  const { code, message, hint, details, line, column } = end.failure
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`
  const error = new BaxError(code, message + place, {
    ...(hint && { hint }),
    details: { ...details, ...(line !== undefined && { line, column }) },
  })
  return { result: null, ...error.toBody(), details: error.details as Record<string, unknown> }
}

/** A thread, as far as a run needs it. */
interface Thread {
  postMessage(message: ToThread): void
  terminate(): Promise<unknown>
}

class CodeRun {
  readonly #calls: CodeCalls
  readonly #signal: AbortSignal
  readonly #task: CodeTask
  readonly #queue = new FairQueue({ atOnce: limits.code.callsAtOnce, reserve: 0 })
  readonly #lines: string[] = []
  #count = 0

  constructor(calls: CodeCalls, signal: AbortSignal, task: CodeTask) {
    this.#calls = calls
    this.#signal = signal
    this.#task = task
  }

  /** Output and number of calls. */
  get report(): Pick<CodeResult, 'output' | 'calls'> {
    return { output: this.#lines.map((line) => `${line}\n`).join(''), calls: this.#count }
  }

  /** Runs the code; its thread has ended when this returns. @throws the reason of the signal */
  async run(): Promise<CodeEnd> {
    const signal = this.#signal
    let starting: Promise<Thread> | undefined
    let timer: NodeJS.Timeout | undefined
    let cancel!: () => void
    try {
      return await new Promise<CodeEnd>((resolve, reject) => {
        cancel = () => reject(signal.reason as Error)
        signal.addEventListener('abort', cancel, { once: true })
        const { timeoutMs } = this.#task
        const late = () => resolve({ failure: timeoutFailure(timeoutMs, undefined) })
        timer = setTimeout(late, timeoutMs + limits.code.graceMs)
        const receive = (message: FromThread) => {
          if (message.type === 'end') resolve(message.end)
          else if (message.type === 'print') this.#lines.push(message.text)
          else void this.#answer(message, starting!)
        }
        starting = startThread(this.#task, receive, (failure) => resolve({ failure }))
        starting.catch(reject)
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      await starting?.then(
        (thread) => thread.terminate(),
        () => {},
      )
    }
  }

  /** Makes a call of the code, and returns its outcome to it. */
  async #answer({ id, name, args }: Extract<FromThread, { type: 'call' }>, thread: Promise<Thread>): Promise<void> {
    this.#count += 1
    const outcome = await this.#outcomeOf(name, args)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
    if (!this.#signal.aborted) (await thread).postMessage({ id, ...outcome })
  }

  async #outcomeOf(name: string, args: string): Promise<CallOutcome> {
    const signal = this.#signal
    try {
      // Parsed arguments need more memory than their text, so that only running calls have them.
      const call = () => this.#calls.call(name, JSON.parse(args) as unknown[], signal)
      const value = await this.#queue.run(call, { signal })
      const text = value === undefined ? undefined : JSON.stringify(value)
      // A text takes two bytes a character, and its values at least as much again.
      const most = (this.#task.memoryMb * 1024 * 1024) / 4
      if (text !== undefined && text.length > most)
        throw new BaxError('content_too_large', `the result of ${name} has ${text.length} characters`, {
          hint: 'ask for less, or raise memory_mb',
        })
      return { value: text }
    } catch (error) {
      return { failure: plainError(asBaxError(error)) }
    }
  }
}

/** Starts the thread of a sandbox. Where its program has not been built, as in tests, the sandbox is on this thread. */
async function startThread(
  task: CodeTask,
  receive: (message: FromThread) => void,
  failed: (failure: CodeFailure) => void,
): Promise<Thread> {
  const program = join(import.meta.dirname, 'code-worker.mjs')
  if (!existsSync(program)) {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', receive)
    const { serveCode } = await import('./sandbox.ts')
    await serveCode(port2, task)
    return { postMessage: (message) => port1.postMessage(message), terminate: async () => port1.close() }
  }
  const worker = new Worker(program, {
    workerData: task,
    // The sandbox needs nothing of the process.
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: limits.code.heapMb },
  })
  worker.on('message', receive)
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    failed(
      isFull ? noMemory(task.memoryMb) : { code: 'internal_error', message: `the sandbox failed: ${error.message}` },
    )
  })
  worker.on('exit', () => failed({ code: 'internal_error', message: 'the sandbox has ended' }))
  return worker
}
