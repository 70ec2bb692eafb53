/** Standard output and error of a command, and how their failures end it. */
import type { Writable } from 'node:stream'
import type { Io, Output } from '../cli/io.ts'

type OutputStream = Writable & Output
type OutputName = 'stdout' | 'stderr'

export class Outputs {
  readonly #open: (name: OutputName) => OutputStream
  readonly #used = new Set<OutputStream>()
  readonly #interrupted: AbortController
  /** Error that prevented writing results to standard output. */
  #unwritten: NodeJS.ErrnoException | undefined

  /** Opens each output on first use, because each one adds half a millisecond to the start of a process. */
  constructor(open: (name: OutputName) => OutputStream, interrupted: AbortController) {
    this.#open = open
    this.#interrupted = interrupted
  }

  get(name: OutputName): OutputStream {
    const stream = this.#open(name)
    if (!this.#used.has(stream)) {
      this.#used.add(stream)
      stream.on('error', (error: NodeJS.ErrnoException) => {
        // A reader that stops early, as in `bax … | head -1`, and a closed terminal are not failures. Errors of stderr
        // cannot be reported anywhere.
        if (error.code === 'EPIPE' || error.code === 'EIO' || name === 'stderr') return
        this.#unwritten ??= error
        this.#interrupted.abort('SIGTERM')
      })
    }
    return stream
  }

  /** Flushes the outputs. Returns the exit code, which reports results that could not be written. */
  async end(code: number, io: Io): Promise<number> {
    await this.#flush()
    if (!this.#unwritten) return code
    const { printWriteError } = await import('../cli/program.ts')
    const failed = await printWriteError(this.#unwritten, io)
    await this.#flush()
    return failed
  }

  async #flush(): Promise<void> {
    for (const stream of this.#used) await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
}
