/** A sign of life on stderr while something takes its time; silent unless a person looks. */
import type { Io } from './io.ts'

export interface Spinner {
  readonly say: (text: string) => void
  readonly stop: () => void
}

const silent: Spinner = { say: () => {}, stop: () => {} }

/** Shows nothing for the first moments: most work is done before a spinner could be read. */
const delayMs = 400

/** Lines of a log that are told when the work has failed. */
const keptLines = 20

export interface LogProgress {
  readonly line: (text: string) => void
  readonly stop: () => void
  /** The last lines, for who wants to know why it failed. */
  readonly last: () => readonly string[]
}

/** Work that tells of itself line by line, and not how much is left: how long it takes, how much it said, and the last of it. */
export async function startLog(io: Io, title: string): Promise<LogProgress> {
  const spinner = await startSpinner(io, title)
  const began = performance.now()
  const lines: string[] = []
  let count = 0
  const draw = () => {
    const secs = Math.round((performance.now() - began) / 1000)
    const text = `${title}: ${secs} s, ${count} line${count === 1 ? '' : 's'}${lines.length > 0 ? `, ${lines.at(-1)}` : ''}`
    const width = (io.stderr.columns ?? 80) - 4
    spinner.say(text.length > width ? `${text.slice(0, width - 1)}…` : text)
  }
  const timer = io.stderr.isTTY ? setInterval(draw, 1000) : undefined
  return {
    line(text) {
      count += 1
      lines.push(text)
      if (lines.length > keptLines) lines.shift()
      draw()
    },
    stop() {
      clearInterval(timer)
      spinner.stop()
    },
    last: () => lines,
  }
}

export async function startSpinner(io: Io, text: string): Promise<Spinner> {
  if (!io.stderr.isTTY) return silent
  let current = text
  let stopped = false
  let shown: { text: string; stop(): unknown } | undefined
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora')
    if (!stopped)
      shown = ora({ text: current, stream: io.stderr as NodeJS.WritableStream, discardStdin: false }).start()
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
  }
}
