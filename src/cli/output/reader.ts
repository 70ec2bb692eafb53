/** The reader of standard output, which may end before the command, as in `bax session watch | head -1`. */
import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { type Io, ReaderGone } from '../io.ts'

/** Name under which the launcher watches standard output; `src/launcher/launcher.c` has the same. */
const watcherName = 'bax-wait-for-reader'

export class Reader {
  readonly #io: Io
  readonly #gone = new AbortController()
  #wake = () => {}

  constructor(io: Io) {
    this.#io = io
    const stream = io.stdout as Partial<Writable>
    // A broken pipe is reported only once, by an event.
    stream.on?.('error', () => this.#leave())
    stream.on?.('close', () => this.#leave())
    stream.on?.('drain', () => this.#wake())
  }

  /** Aborted when the reader is gone, with `ReaderGone` as the reason. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Prints, and waits until the output has drained. @throws ReaderGone */
  async print(text: string): Promise<void> {
    this.#io.stdout.write(text)
    await this.drained()
  }

  /** Waits until the output has drained. @throws ReaderGone */
  async drained(): Promise<void> {
    const stream = this.#io.stdout as Partial<Writable>
    if (stream.writableNeedDrain && !this.signal.aborted) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.signal.throwIfAborted()
  }

  /**
   * Watches for the end of the reader while nothing is written, which Node cannot do: the launcher polls standard output.
   * Without a launcher, the next write reports the end. Returns a function that stops watching.
   */
  watch(): () => void {
    const { host, stdout } = this.#io
    if (host.launcher === undefined || stdout.isTTY) return () => {}
    const watcher = spawn(host.launcher, [], { argv0: watcherName, stdio: ['pipe', 'inherit', 'ignore'] })
    // Thrown if this build has no launcher.
    watcher.on('error', () => {})
    watcher.on('exit', (code) => code === 0 && this.#leave())
    return () => void watcher.stdin?.end()
  }

  #leave(): void {
    this.#gone.abort(new ReaderGone())
    this.#wake()
  }
}

/** Calls `work` with a signal that is also aborted when the reader of standard output is gone, which is no failure. */
export async function whileRead(io: Io, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const reader = new Reader(io)
  const stop = reader.watch()
  try {
    await work(AbortSignal.any([io.signal, reader.signal]))
  } catch (error) {
    if (!reader.signal.aborted || io.signal.aborted) throw error
  } finally {
    stop()
  }
}
