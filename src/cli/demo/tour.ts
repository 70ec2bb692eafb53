/** Runs the workflows of the tour in this process, and prints each command with its output. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Settings } from '../../core/config/settings.ts'
import { type ErrorCode, exits } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { type Io, print } from '../io.ts'
import type { Style } from '../output/style.ts'
import { main } from '../program.ts'
import { lineOf, type Place, script, type Step, type Workflow, workflows } from './steps.ts'

/** Timeout of a command that keeps running until it is ready, in milliseconds. */
const readyMs = 30_000

/** Errors of workflows whose requirements are not installed; the last one is that of a checkout without an agent. */
const missing: ReadonlySet<ErrorCode | undefined> = new Set<ErrorCode>([
  'browser_not_found',
  'docker_unavailable',
  'feature_disabled',
])

interface Ended {
  readonly exit: number
  /** Code of the error that ended the command. */
  readonly code?: ErrorCode | undefined
  readonly output: string
}

interface RunOptions {
  readonly signal?: AbortSignal
  /** Called when the command prints a result. */
  readonly onResult?: () => void
}

export class Tour {
  readonly #io: Io
  readonly #style: Style
  readonly #env: Io['env']

  constructor(io: Io, style: Style, { browser, noProxy, stateDir }: Settings) {
    this.#io = io
    this.#style = style
    this.#env = {
      ...io.env,
      NO_COLOR: '1',
      BAX_SESSION: undefined,
      BAX_STATE_DIR: stateDir,
      ...(browser !== undefined && { BAX_BROWSER: browser }),
      ...(noProxy && { BAX_NO_PROXY: 'on' }),
    }
  }

  /** Returns the exit code: that of the first workflow that failed. Missing requirements are not a failure. */
  async run(place: Place): Promise<number> {
    await writeFile(join(place.folder, 'order.yaml'), script(place.url))
    const all = workflows(place)
    const start = performance.now()
    const outcomes: string[] = []
    let exit: number = exits.done
    for (const [at, workflow] of all.entries()) {
      print(this.#io, `\n${this.#style.bold(`${at + 1} of ${all.length}: ${workflow.title}`)}`)
      const failed = await this.#workflow(workflow)
      this.#io.signal.throwIfAborted()
      const isMissing = missing.has(failed?.code)
      outcomes.push(
        failed
          ? `${isMissing ? 'missing' : 'failed '}  ${workflow.title}: ${reasonOf(failed)}`
          : `done     ${workflow.title}`,
      )
      if (failed && !isMissing && exit === exits.done) exit = failed.exit
    }
    print(this.#io, `\n${outcomes.join('\n')}\n${Math.round((performance.now() - start) / 1000)} s`)
    return exit
  }

  /** Returns the first step that failed; null if none did. */
  async #workflow({ steps, end }: Workflow): Promise<Ended | null> {
    const beside = new AbortController()
    const running: Promise<Ended>[] = []
    try {
      for (const step of steps) {
        const ended = step.runsBeside ? await this.#begin(step, beside.signal, running) : await this.#step(step)
        if (ended.exit !== exits.done) return ended
      }
      return null
    } finally {
      beside.abort('SIGTERM')
      await Promise.all(running)
      // Also after the tour was interrupted.
      if (end) await this.#run(end, { signal: new AbortController().signal })
    }
  }

  async #step({ argv, lines }: Step): Promise<Ended> {
    print(this.#io, this.#style.cyan(`$ ${lineOf(argv)}`))
    const ended = await this.#run(argv)
    const text = ended.output.trimEnd()
    const all = text === '' ? [] : text.split('\n')
    const shown = ended.exit === exits.done ? all.slice(0, lines) : all
    for (const line of shown) print(this.#io, `  ${line}`)
    if (shown.length < all.length) print(this.#io, this.#style.dim(`  … ${all.length - shown.length} more lines`))
    return ended
  }

  /** Starts a step that runs beside others; it is ready when it prints a result. */
  async #begin({ argv }: Step, stop: AbortSignal, running: Promise<Ended>[]): Promise<Ended> {
    print(this.#io, this.#style.cyan(`$ ${lineOf(argv)} &`))
    let onResult = () => {}
    const ready = new Promise<Ended>((resolve) => (onResult = () => resolve({ exit: exits.done, output: '' })))
    const ended = this.#run(argv, { signal: AbortSignal.any([this.#io.signal, stop]), onResult })
    running.push(ended)
    const late = { exit: exits.timeout, output: `it was not ready after ${readyMs / 1000} s` }
    return withDeadline(Promise.race([ended, ready]), { ms: readyMs, value: late })
  }

  async #run(argv: readonly string[], { signal = this.#io.signal, onResult }: RunOptions = {}): Promise<Ended> {
    let output = ''
    let code: ErrorCode | undefined
    const collect = (chunk: string | Uint8Array) => void (output += Buffer.from(chunk as string).toString())
    const exit = await main(argv, {
      ...this.#io,
      stdin: (async function* () {})(),
      stdout: { write: (chunk) => (collect(chunk), onResult?.()) },
      stderr: { write: collect },
      env: this.#env,
      signal,
      onFailure: (failed) => (code = failed),
    })
    return { exit, code, output }
  }
}

/** The sentence of an error, or of the step of a script, without the label. */
const reasonOf = ({ output }: Ended): string =>
  /^(?:error| *✗ .*?): (.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1)!
