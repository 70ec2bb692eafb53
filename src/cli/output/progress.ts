/** Progress on stderr; silent unless stderr is a terminal. */
import { type Io, note } from '../io.ts'
import { type LocalFile, readLocalFile } from '../../client/local-file.ts'
import { counted } from './counted.ts'

export interface Spinner {
  readonly say: (text: string) => void
  readonly stop: () => void
  /** Hides the spinner while `work` writes to the terminal. */
  readonly hideWhile: <T>(work: () => Promise<T>) => Promise<T>
}

const silent: Spinner = { say: () => {}, stop: () => {}, hideWhile: (work) => work() }

/** Delay before a spinner appears: most work is done sooner. */
const delayMs = 400

/** Log lines kept for the report of a failure. */
const keptLines = 20

/** Columns of the spinner itself and the margin. */
const margin = 4

/** Cuts a line to the width of the terminal: the spinner would draw a wrapped line again below itself. */
export function fitted({ stderr }: Io, line: string): string {
  const width = (stderr.columns ?? 80) - margin
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}

/**
 * Shows the progress of work that logs lines: the elapsed time, the number of lines, and the last one. When it fails,
 * prints the last lines, which explain the failure.
 */
export async function withLog<Result>(
  io: Io,
  title: string,
  work: (line: (text: string) => void) => Promise<Result>,
): Promise<Result> {
  const lines: string[] = []
  let count = 0
  const { draw, stop } = await startTicking(io, title, (secs) => {
    const last = lines.length > 0 ? `, ${lines.at(-1)}` : ''
    return fitted(io, `${title}: ${secs} s, ${counted(count, 'line')}${last}`)
  })
  const line = (text: string) => {
    count += 1
    lines.push(text)
    if (lines.length > keptLines) lines.shift()
    draw()
  }
  try {
    return await work(line).finally(stop)
  } catch (error) {
    for (const kept of lines) note(io, kept)
    throw error
  }
}

/** Shows the elapsed time of work that reports nothing until it is done. */
export async function withClock<Result>(io: Io, title: string, work: () => Promise<Result>): Promise<Result> {
  const { stop } = await startTicking(io, title, (secs) => `${title}: ${secs} s`)
  return work().finally(stop)
}

/** Starts a spinner whose text is drawn again every second. */
async function startTicking(io: Io, title: string, text: (secs: number) => string) {
  const spinner = await startSpinner(io, title)
  const began = performance.now()
  const draw = () => spinner.say(text(Math.round((performance.now() - began) / 1000)))
  const timer = io.stderr.isTTY ? setInterval(draw, 1000) : undefined
  const stop = () => {
    clearInterval(timer)
    spinner.stop()
  }
  return { draw, stop }
}

/** Counts items: how many are done, failed and left, and the rate. */
export async function startCount(io: Io, total: number, noun: string) {
  const spinner = await startSpinner(io, `0 of ${total} ${noun}s`)
  const began = performance.now()
  let [done, failed] = [0, 0]
  return {
    ...spinner,
    /** Counts one more item. */
    next(isFailure: boolean) {
      done += 1
      if (isFailure) failed += 1
      const rate = done / Math.max((performance.now() - began) / 1000, 0.001)
      const errors = failed > 0 ? `, ${failed} failed` : ''
      spinner.say(`${done} of ${total} ${noun}s, ${rate.toFixed(1)}/s, ${total - done} left${errors}`)
    },
  }
}

/** Passes bytes through and shows their count, the total if it is known, and the rate. */
export async function* withByteCount(
  io: Io,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  total?: number,
): AsyncGenerator<Uint8Array> {
  const spinner = await startSpinner(io, name)
  const began = performance.now()
  const megabytes = (count: number) => (count / 1e6).toFixed(1)
  let passed = 0
  try {
    for await (const chunk of bytes) {
      passed += chunk.length
      const rate = megabytes(passed / Math.max((performance.now() - began) / 1000, 0.001))
      const of = total === undefined ? '' : ` of ${megabytes(total)}`
      spinner.say(`${name}: ${megabytes(passed)}${of} MB, ${rate} MB/s`)
      yield chunk
    }
  } finally {
    spinner.stop()
  }
}

/** Returns a function that reads files, and shows the number of bytes. */
export const fileReader =
  (io: Io) =>
  (file: LocalFile): AsyncIterable<Uint8Array> =>
    withByteCount(io, file.name, readLocalFile(file), file.size)

/** Shows a spinner while `work` runs. */
export async function withSpinner<Result>(
  io: Io,
  text: string,
  work: (say: Spinner['say']) => Promise<Result>,
): Promise<Result> {
  const spinner = await startSpinner(io, text)
  return work(spinner.say).finally(spinner.stop)
}

export async function startSpinner(io: Io, text: string): Promise<Spinner> {
  if (!io.stderr.isTTY) return silent
  let current = text
  let stopped = false
  let away = false
  let shown: { text: string; start(): unknown; stop(): unknown } | undefined
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora')
    if (stopped) return
    // Ora would decide this for the process's own stderr.
    const isEnabled = io.env['TERM'] !== 'dumb' && io.env['CI'] === undefined
    shown = ora({ text: current, stream: io.stderr as NodeJS.WritableStream, discardStdin: false, isEnabled })
    if (!away) shown.start()
  }, delayMs)
  return {
    say(next) {
      current = next
      if (shown) shown.text = next
    },
    stop() {
      stopped = true
      clearTimeout(timer)
      shown?.stop()
    },
    async hideWhile(work) {
      away = true
      shown?.stop()
      try {
        return await work()
      } finally {
        away = false
        if (!stopped) shown?.start()
      }
    },
  }
}
