/** Runs the workflows of the tour as child processes, and prints each command with its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { exits } from '../../core/errors/errors.ts'
import { type Io, print } from '../io.ts'
import type { Style } from '../output/style.ts'
import { type Place, script, type Step, type Workflow, workflows } from './steps.ts'

/** Interval and timeout of waiting until a command that keeps running is ready, in milliseconds. */
const look = { everyMs: 500, longestMs: 30_000 }

interface Ended {
  readonly code: number
  readonly output: string
}

export class Tour {
  readonly #io: Io
  readonly #style: Style
  /** The site is on this machine, and so is the engine. */
  readonly #env: NodeJS.ProcessEnv

  constructor(io: Io, style: Style) {
    this.#io = io
    this.#style = style
    this.#env = { ...io.env, NO_COLOR: '1', BAX_SERVER: undefined, BAX_SESSION: undefined }
  }

  /** Returns the exit code: that of the first workflow that failed. One whose needs are not met has not failed. */
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
      const isMissing = failed?.code === exits.unreachable
      outcomes.push(
        failed
          ? `${isMissing ? 'missing' : 'failed '}  ${workflow.title}: ${reasonOf(failed)}`
          : `done     ${workflow.title}`,
      )
      if (failed && !isMissing && exit === exits.done) exit = failed.code
    }
    print(this.#io, `\n${outcomes.join('\n')}\n${Math.round((performance.now() - start) / 1000)} s`)
    return exit
  }

  /** Returns the first step that failed; null if none did. */
  async #workflow({ steps, end }: Workflow): Promise<Ended | null> {
    const beside: ChildProcess[] = []
    try {
      for (const step of steps) {
        const ended = step.until ? await this.#begin(step, step.until, beside) : await this.#step(step)
        if (ended.code !== exits.done) return ended
      }
      return null
    } finally {
      for (const child of beside) {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
      if (end) await this.#run(end)
    }
  }

  async #step({ argv, lines }: Step): Promise<Ended> {
    print(this.#io, this.#style.cyan(`$ bax ${argv.map(quoted).join(' ')}`))
    const ended = await this.#run(argv)
    const text = ended.output.trimEnd()
    const all = text === '' ? [] : text.split('\n')
    const shown = ended.code === exits.done ? all.slice(0, lines) : all
    for (const line of shown) print(this.#io, `  ${line}`)
    if (shown.length < all.length) print(this.#io, this.#style.dim(`  … ${all.length - shown.length} more lines`))
    return ended
  }

  /** Starts a step that runs beside others. */
  async #begin({ argv }: Step, until: readonly string[], beside: ChildProcess[]): Promise<Ended> {
    print(this.#io, this.#style.cyan(`$ bax ${argv.map(quoted).join(' ')} &`))
    const child = this.#spawn(argv)
    beside.push(child)
    const output = collected(child)
    const longest = performance.now() + look.longestMs
    while (child.exitCode === null && performance.now() < longest) {
      if ((await this.#run(until)).code === exits.done) return { code: exits.done, output: '' }
      await wait(look.everyMs, undefined, { signal: this.#io.signal })
    }
    return { code: child.exitCode ?? exits.timeout, output: output() }
  }

  async #run(argv: readonly string[]): Promise<Ended> {
    const child = this.#spawn(argv)
    const output = collected(child)
    const [code] = (await once(child, 'close')) as [number | null]
    return { code: code ?? exits.internal, output: output() }
  }

  #spawn(argv: readonly string[]): ChildProcess {
    const { host, signal } = this.#io
    const [program, ...leading] = host.self
    const child = spawn(program, [...leading, ...argv], { stdio: ['ignore', 'pipe', 'pipe'], env: this.#env })
    const stop = () => child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    child.once('exit', () => signal.removeEventListener('abort', stop))
    return child
  }
}

/** Returns a function with what a child has printed so far. */
function collected({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr]) stream!.setEncoding('utf8').on('data', (part: string) => (text += part))
  return () => text
}

/** The sentence of an error, without the label. */
const reasonOf = ({ output }: Ended): string => /^error: (.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1)!

/** Quotes a word for a shell if it needs that. */
const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
