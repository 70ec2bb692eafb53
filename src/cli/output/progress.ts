/** A sign of life on stderr while something takes its time; silent unless a person looks. */
import type { Io } from '../io.ts'

export interface Spinner {
  readonly say: (text: string) => void
  readonly stop: () => void
  /** Leaves the screen to others while they write on it. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>
}

const silent: Spinner = { say: () => {}, stop: () => {}, aside: (work) => work() }

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

/** Work that says nothing of itself until it is done: for how long it has been at it. */
export async function startClock(io: Io, title: string): Promise<Pick<Spinner, 'stop'>> {
  const spinner = await startSpinner(io, title)
  const began = performance.now()
  const tick = () => spinner.say(`${title}: ${Math.round((performance.now() - began) / 1000)} s`)
  const timer = io.stderr.isTTY ? setInterval(tick, 1000) : undefined
  return {
    stop() {
      clearInterval(timer)
      spinner.stop()
    },
  }
}

/** So many things of so many: how many are done, failed and left, and how fast it goes. */
export async function startCount(io: Io, total: number, noun: string) {
  const spinner = await startSpinner(io, `0 of ${total} ${noun}s`)
  const began = performance.now()
  let [done, failed] = [0, 0]
  return {
    ...spinner,
    /** One more is done. */
    next(isFailure: boolean) {
      done += 1
      if (isFailure) failed += 1
      const rate = done / Math.max((performance.now() - began) / 1000, 0.001)
      const errors = failed > 0 ? `, ${failed} failed` : ''
      spinner.say(`${done} of ${total} ${noun}s, ${rate.toFixed(1)}/s, ${total - done} left${errors}`)
    },
  }
}

/** The same bytes, and on the terminal how many have passed, of how many where that is known, and how fast. */
export async function* counted(
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

export async function startSpinner(io: Io, text: string): Promise<Spinner> {
  if (!io.stderr.isTTY) return silent
  let current = text
  let stopped = false
  let away = false
  let shown: { text: string; start(): unknown; stop(): unknown } | undefined
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora')
    if (stopped) return
    // As ora decides by itself, of the terminal that we were given.
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
    async aside(work) {
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
