/** What a server counts, in Prometheus' text format. */
import type { Engine } from '../../core/engine.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import { version } from '../../core/version.ts'
import type { RequestFacts } from '../request/requests.ts'

export interface Meter {
  /** Counts a request that is over. */
  count(request: RequestFacts): void
  /** All of it, as it is now. */
  text(): Promise<string>
}

/** Seconds; commands take milliseconds, crawls minutes. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** `inFlight` tells how many requests are open. */
export async function openMeter(engine: Engine, inFlight: () => number): Promise<Meter> {
  const { default: prometheus } = await import('prom-client')
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = prometheus
  const register = new Registry()
  const registers = [register]
  // Memory, processor, garbage collection, delay of the event loop.
  collectDefaultMetrics({ register })
  const requests = new Counter({
    name: 'bax_requests_total',
    help: 'Requests that are over, by operation and HTTP status',
    labelNames: ['operation', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'bax_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by operation and HTTP status',
    labelNames: ['operation', 'status'],
    buckets,
    registers,
  })
  const bytes = new Counter({
    name: 'bax_response_bytes_total',
    help: 'Bytes sent, by operation',
    labelNames: ['operation'],
    registers,
  })
  const gauges = new Map(
    gaugesOf({} as EngineStatus, 0).map(({ name, help, labelNames }) => [
      name,
      new Gauge({ name, help, labelNames: [...labelNames], registers }),
    ]),
  )
  const refused = new Counter({
    name: 'bax_egress_refused_total',
    help: 'Connections to the outside that were refused, by reason',
    labelNames: ['reason'],
    registers,
  })
  return {
    count({ operation, status, ms, bytes: sent }) {
      const labels = { operation, status: String(status) }
      requests.inc(labels)
      durations.observe(labels, ms / 1000)
      bytes.inc({ operation }, sent)
    },
    async text() {
      const status = await engine.status()
      refused.reset()
      for (const [reason, count] of Object.entries(status.egress_refused)) refused.inc({ reason }, count)
      for (const { name, values } of gaugesOf(status, inFlight())) {
        const gauge = gauges.get(name)!
        gauge.reset()
        for (const { labels, value } of values) gauge.set(labels, value)
      }
      return register.metrics()
    },
  }
}

interface Reading {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  readonly values: readonly { readonly labels: Record<string, string>; readonly value: number }[]
}

const one = (name: string, help: string, value: number | undefined): Reading => ({
  name,
  help,
  labelNames: [],
  values: value === undefined ? [] : [{ labels: {}, value }],
})

const by = (label: string, name: string, help: string, values: Readonly<Record<string, number>>): Reading => ({
  name,
  help,
  labelNames: [label],
  values: Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value })),
})

/** What an engine says of itself, as gauges; one that says nothing gives their names. */
function gaugesOf(status: Partial<EngineStatus>, inFlight: number): Reading[] {
  const { browsers = [], queues } = status
  const kinds = [...new Set(browsers.map(({ kind }) => kind))]
  const sumBy = (take: (browser: EngineStatus['browsers'][number]) => number) =>
    Object.fromEntries(
      kinds.map((kind) => [
        kind,
        browsers.filter((browser) => browser.kind === kind).reduce((sum, browser) => sum + take(browser), 0),
      ]),
    )
  return [
    {
      name: 'bax_info',
      help: 'Version of the server',
      labelNames: ['version'],
      values: [{ labels: { version }, value: 1 }],
    },
    one('bax_requests_in_flight', 'Requests that are open', inFlight),
    one('bax_sessions', 'Live browser sessions', status.sessions),
    one('bax_crawls', 'Crawls at work', status.crawls),
    one('bax_shells', 'Live shell sessions', status.shells),
    one('bax_execs', 'Commands at work in shell sessions', status.execs),
    one('bax_relays', 'Browsers connected through the relay', status.relays),
    by(
      'kind',
      'bax_browsers',
      'Browser processes of the pool',
      sumBy(() => 1),
    ),
    by(
      'kind',
      'bax_browsers_unresponsive',
      'Browser processes of the pool that do not answer',
      sumBy(({ responsive }) => (responsive ? 0 : 1)),
    ),
    by(
      'kind',
      'bax_browser_places_taken',
      'Sessions in the browsers of the pool',
      sumBy(({ sessions }) => sessions),
    ),
    by(
      'kind',
      'bax_browser_pages_ready',
      'Pages kept ready for the next sessions',
      sumBy(({ warm }) => warm),
    ),
    by(
      'queue',
      'bax_queue_length',
      'What waits: sessions for a place, pages for a tab, batches for a turn',
      queues ?? {},
    ),
  ]
}
