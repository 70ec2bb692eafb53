/** Writes the whole run as one JSON object at its end. */
import type { Reporter, Sink } from './reporter.ts'
import { runOnWire } from './wire.ts'

export const jsonReporter = (sink: Sink): Reporter => ({
  end: (run) => sink.write(`${JSON.stringify(runOnWire(run), null, 2)}\n`),
})
