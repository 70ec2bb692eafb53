/** Standard output and error of a command, and how their failures end it. */
import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import type { Io, Output } from '../cli/io.ts'

type OutputStream = Writable & Output
type OutputName = 'stdout' | 'stderr'

/** Writes to a file completely: streams of Node lose the rest when a write fills the disk. */
export class FileOutput extends Writable {
  readonly #fd: number

  constructor(fd: number) {
    super()
    this.#fd = fd
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      for (let written = 0; written < chunk.length;) written += writeSync(this.#fd, chunk, written)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}

/** Errors of outputs whose reader has ended. */
const readerGone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET'])

export class Outputs {
  readonly #open: (name: OutputName) => OutputStream
  readonly #used = new Map<OutputName, OutputStream>()
  readonly #interrupted: AbortController
  /** First errors that prevented writing. */
  readonly #failed = new Map<OutputName, NodeJS.ErrnoException>()

  /** Opens each output on first use, because each one adds half a millisecond to the start of a process. */
  constructor(open: (name: OutputName) => OutputStream, interrupted: AbortController) {
    this.#open = open
    this.#interrupted = interrupted
  }

  get(name: OutputName): OutputStream {
    const used = this.#used.get(name)
    if (used) return used
    const stream = this.#open(name)
    this.#used.set(name, stream)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A reader that stops early, as in `bax … | head -1`, and a closed terminal are not failures.
      if (readerGone.has(error.code) || (error.code === 'EIO' && stream.isTTY)) return
      if (!this.#failed.has(name)) this.#failed.set(name, error)
      if (name === 'stdout') this.#interrupted.abort('SIGTERM')
    })
    return stream
  }

  /** Flushes the outputs. Returns the exit code, which reports output that could not be written. */
  async end(code: number, io: Io): Promise<number> {
    await this.#flush()
    const name = this.#failed.has('stdout') ? 'stdout' : 'stderr'
    const error = this.#failed.get(name)
    // A failure of the command says more than that its messages could not be written.
    if (!error || (name === 'stderr' && code !== 0)) return code
    const { printWriteError } = await import('../cli/program.ts')
    const failed = await printWriteError(name, error, io)
    await this.#flush()
    return failed
  }

  async #flush(): Promise<void> {
    const flushed = [...this.#used.values()].map(
      (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
    )
    await Promise.all(flushed)
  }
}
