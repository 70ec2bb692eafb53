/** The whole run as one JSON object, when it is over. */
import type { RunReport } from '../report.ts'
import type { Reporter, Sink } from './reporter.ts'
import { runOnWire } from './wire.ts'

export class JsonReporter implements Reporter {
  readonly #sink: Sink

  constructor(sink: Sink) {
    this.#sink = sink
  }

  end(run: RunReport): void {
    this.#sink.write(`${JSON.stringify(runOnWire(run), null, 2)}\n`)
  }
}
