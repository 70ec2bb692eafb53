/** Records a session into a script, until a key, a signal or the end of the session. */
import { type FrameOf, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { RecordedStep, RecordingState } from '../../core/shapes/recording.ts'
import { stepLine } from '../../core/text/script/write-script.ts'
import type { Context } from '../context.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { note } from '../io.ts'
import { watch } from '../output/watch.ts'
import { keyHelp, listenForKeys, stepOfKey } from './keys.ts'
import type { ScriptFile } from './script-file.ts'

/** Time for the last calls after an interrupt. */
const endMs = 15_000

/** Records until the end; returns the final state, or undefined when the session has ended before. */
export const recordUntilEnd = (
  context: Context,
  engine: LocatedEngine,
  sessionId: string,
  script: ScriptFile,
): Promise<RecordingState | undefined> => new Recorder(context, engine, sessionId, script).run()

class Recorder {
  readonly #context: Context
  readonly #engine: LocatedEngine
  readonly #sessionId: string
  readonly #script: ScriptFile
  readonly #log: StepLog
  readonly #over = new AbortController()
  #work: Promise<void> = Promise.resolve()

  constructor(context: Context, engine: LocatedEngine, sessionId: string, script: ScriptFile) {
    this.#context = context
    this.#engine = engine
    this.#sessionId = sessionId
    this.#script = script
    this.#log = new StepLog(context)
  }

  async run(): Promise<RecordingState | undefined> {
    const { io } = this.#context
    const stop = () => this.#over.abort()
    await this.#script.write()
    await this.#record('start', io.signal)
    io.signal.addEventListener('abort', stop, { once: true })
    const release = listenForKeys(io, (key) => this.#onKey(key))
    note(io, `recording (${keyHelp})`)
    try {
      if (io.signal.aborted) stop()
      await this.#follow()
      stop()
      await this.#work
    } finally {
      release()
      io.signal.removeEventListener('abort', stop)
    }
    const state = await finalState(() => this.#record('stop', AbortSignal.timeout(endMs)))
    if (state) await this.#sync(state)
    await this.#log.end()
    await this.#script.write()
    return state
  }

  #record(action: 'start' | 'stop' | 'status', signal: AbortSignal): Promise<RecordingState> {
    return this.#engine.ask('recordSession', { session_id: this.#sessionId, action }, { signal })
  }

  /** Handles the events of the session until the end. */
  async #follow(): Promise<void> {
    const { io } = this.#context
    const { signal } = this.#over
    const types = ['recording.step', 'tab.closed', 'error']
    const input = uncheckedFields({ session_id: this.#sessionId, types, hold: true })
    try {
      await watch({
        engine: this.#engine,
        stream: 'sessionEvents',
        input,
        io: { ...io, signal },
        onEvent: (event) => this.#onEvent(event),
      })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #onEvent({ type, data }: FrameOf<'sessionEvents'>): void {
    if (type === 'recording.step') {
      const { index, ...step } = data
      // Earlier steps were missed before the stream was opened, or while it lagged.
      this.#inOrder(async () => {
        if (index <= this.#script.recorded) return this.#put(index, step)
        return this.#sync(await this.#record('status', this.#over.signal))
      })
    } else if (type === 'error') note(this.#context.io, `warning: ${data.message}`)
    else if (type === 'tab.closed' && data.tabs === 0) this.#over.abort()
  }

  #onKey(key: string): void {
    // Raw terminals deliver ^C and ^D as characters.
    if (key === 'q' || key === '\u0003' || key === '\u0004') return this.#over.abort()
    if (key !== 't' && key !== 'u' && key !== 'v') return
    this.#inOrder(async () => {
      const page = await this.#engine.ask('getSession', { session_id: this.#sessionId }, { signal: this.#over.signal })
      const step = stepOfKey(key, page, this.#script.lastSelector)
      if (typeof step === 'string') return note(this.#context.io, `warning: ${step}`)
      this.#script.add(step)
      await this.#log.show(step)
      await this.#script.write()
    })
  }

  /** Runs work in order; its failure ends the recording. */
  #inOrder(task: () => Promise<void>): void {
    const { signal } = this.#over
    this.#work = this.#work.then(task).catch((error: unknown) => {
      // The final state contains what an interrupted call would have returned.
      if (signal.aborted) return
      this.#over.abort()
      throw error
    })
    // `run` reports it.
    this.#work.catch(() => {})
  }

  async #put(index: number, step: RecordedStep): Promise<void> {
    await this.#log.show(step, this.#script.put(index, step))
    await this.#script.write()
  }

  async #sync({ steps }: RecordingState): Promise<void> {
    for (const [index, step] of steps.entries()) await this.#put(index, step)
  }
}

/** Returns the state after the end; undefined when the session has ended. */
async function finalState(stop: () => Promise<RecordingState>): Promise<RecordingState | undefined> {
  try {
    return await stop()
  } catch (error) {
    const isOver =
      error instanceof BaxError &&
      ['session_closed', 'session_not_found', 'conflict', 'worker_lost'].includes(error.code)
    if (isOver) return undefined
    throw error
  }
}

/** Prints steps, each once: text that is being typed only when it is complete. */
class StepLog {
  readonly #context: Context
  #typed: RecordedStep | undefined

  constructor(context: Context) {
    this.#context = context
  }

  /** `before` is the step that it replaces, such as the first click of a double click. */
  async show(step: RecordedStep, before?: RecordedStep): Promise<void> {
    const isNew = before === undefined
    if (isNew) await this.end()
    if (/^(?:fill|type_text)$/.test(step.command)) this.#typed = isNew || this.#typed ? step : undefined
    else if (step.command !== before?.command) await this.#print(step)
  }

  /** Prints the text that was being typed. */
  async end(): Promise<void> {
    if (this.#typed) await this.#print(this.#typed)
    this.#typed = undefined
  }

  async #print(step: RecordedStep): Promise<void> {
    note(this.#context.io, await stepLine(step, this.#context.manifest))
  }
}

/** Closes a session; one that has ended already is no failure. */
export async function closeSession({ ask }: LocatedEngine, session_id: string): Promise<void> {
  try {
    await ask('closeSession', { session_id }, { signal: AbortSignal.timeout(endMs) })
  } catch (error) {
    if (!(error instanceof BaxError) || error.code !== 'session_not_found') throw error
  }
}
