/** Encloses what a command prints to standard output in random markers (`--content-boundaries`). */
import { BaxError } from '../../core/errors/errors.ts'
import { boundaries } from '../../core/text/boundaries.ts'
import type { Output } from '../io.ts'
import type { Settings } from '../../core/config/settings.ts'

/**
 * Commands whose standard output is text of pages and files. Their messages are on standard error, so that all of it can
 * be enclosed. `do` stands for all browser commands.
 */
export const markable: ReadonlySet<string> = new Set([
  'do',
  'step',
  'observe',
  'run',
  'code',
  'scrape',
  'extract',
  'read',
  'search',
  'request',
  'crawl',
  'map',
  'session log',
  'session watch',
  'relay events',
  'shell read',
  'shell search',
])

/** Standard output of a command that can be enclosed. */
export class MarkedOutput {
  readonly output: Output
  readonly #stdout: Output
  readonly #marks = boundaries()
  #isOn = false
  #isOpen = false
  #endsLine = true

  constructor(stdout: Output) {
    this.#stdout = stdout
    const write: Output['write'] = (chunk, done) => this.#write(chunk, done)
    this.output = Object.create(stdout, { write: { value: write } })
  }

  /** Turns the markers on if the settings say so. @throws BaxError `invalid_request` for the flag with `--json` */
  start({ contentBoundaries, json }: Settings, isFlag: boolean): void {
    if (!contentBoundaries) return
    if (!json) this.#isOn = true
    else if (isFlag)
      throw new BaxError('invalid_request', '--content-boundaries and --json exclude each other', {
        hint: 'leave out one of them: JSON already separates text of pages from the rest',
      })
  }

  /** Writes the last marker, if anything was written. */
  end(): void {
    if (this.#isOpen) this.#stdout.write(`${this.#endsLine ? '' : '\n'}${this.#marks.end}\n`)
    this.#isOpen = false
  }

  #write(chunk: string | Uint8Array, done?: Parameters<Output['write']>[1]): unknown {
    // Bytes are an image or a document.
    if (!this.#isOn || typeof chunk !== 'string' || chunk === '') return this.#stdout.write(chunk, done)
    this.#endsLine = chunk.endsWith('\n')
    const text = this.#isOpen ? chunk : `${this.#marks.begin}\n${chunk}`
    this.#isOpen = true
    return this.#stdout.write(text, done)
  }
}
