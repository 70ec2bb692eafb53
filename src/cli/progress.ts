/** A sign of life on stderr while something takes its time; silent unless a person looks. */
import type { Io } from './io.ts'

export interface Spinner {
  readonly say: (text: string) => void
  readonly stop: () => void
}

const silent: Spinner = { say: () => {}, stop: () => {} }

/** Shows nothing for the first moments: most work is done before a spinner could be read. */
const delayMs = 400

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
