/** Metrics of a server, in the Prometheus text format. */
import type { Engine } from '../../core/engine.ts'
import type { EngineStatus } from '../../core/shapes/engine.ts'
import { version } from '../../core/version.ts'
import type { RequestFacts } from '../request/requests.ts'
import { fleetReadings } from './fleet-metrics.ts'
import { by, one, type Reading } from './reading.ts'

export interface Meter {
  count(request: RequestFacts): void
  text(): Promise<string>
}

/** Histogram buckets in seconds: commands take milliseconds, crawls minutes. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** Creates the metrics; `inFlight` returns the number of open requests. */
export async function openMeter(engine: Engine, inFlight: () => number): Promise<Meter> {
  const { default: prometheus } = await import('prom-client')
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = prometheus
  const register = new Registry()
  const registers = [register]
  // Memory, CPU, garbage collection and event loop delay.
  collectDefaultMetrics({ register })
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })
  const perRequest = ['operation', 'status']
  const requests = counter('bax_requests_total', 'Completed requests, by operation and HTTP status', perRequest)
  const durations = new Histogram({
    name: 'bax_request_duration_seconds',
    help: 'Time from a request to the end of its response, by operation and HTTP status',
    labelNames: perRequest,
    buckets,
    registers,
  })
  const bytes = counter('bax_response_bytes_total', 'Bytes sent, by operation', ['operation'])
  const gauges = new Map(
    [...gaugesOf({}, 0), ...(engine.fleet ? fleetReadings(undefined) : [])].map(({ name, help, label }) => [
      name,
      new Gauge({ name, help, labelNames: label ? [label] : [], registers }),
    ]),
  )
  const refused = counter('bax_egress_refused_total', 'Outgoing connections that were refused, by reason', ['reason'])
  return {
    count({ operation, status, ms, bytes: sent }) {
      const labels = { operation, status: String(status) }
      requests.inc(labels)
      durations.observe(labels, ms / 1000)
      bytes.inc({ operation }, sent)
    },
    async text() {
      const status = await engine.status()
      // Without Redis, the other metrics are even more interesting.
      const fleet = await engine.fleet?.numbers().catch(() => undefined)
      const readings = [...gaugesOf(status, inFlight()), ...(engine.fleet ? fleetReadings(fleet) : [])]
      refused.reset()
      for (const [reason, count] of Object.entries(status.egress_refused)) refused.inc({ reason }, count)
      for (const { name, label, values } of readings) {
        const gauge = gauges.get(name)!
        gauge.reset()
        // A gauge without labels is 0 after a reset, which would be a wrong value if it is unknown.
        if (!label) gauge.remove()
        for (const [key, value] of Object.entries(values)) gauge.set(label ? { [label]: key } : {}, value)
      }
      return register.metrics()
    },
  }
}

/** Returns the gauges of an engine status; an empty status gives their names. */
function gaugesOf(status: Partial<EngineStatus>, inFlight: number): Reading[] {
  const { browsers = [], queues } = status
  const sumBy = (take: (browser: EngineStatus['browsers'][number]) => number) => {
    const sums: Record<string, number> = {}
    for (const browser of browsers) sums[browser.kind] = (sums[browser.kind] ?? 0) + take(browser)
    return sums
  }
  const counts = sumBy(() => 1)
  const unresponsive = sumBy(({ responsive }) => (responsive ? 0 : 1))
  const taken = sumBy(({ sessions }) => sessions)
  const warm = sumBy((browser) => browser.warm)
  return [
    by('version', 'bax_info', 'Version of the server', { [version]: 1 }),
    one('bax_requests_in_flight', 'Open requests', inFlight),
    one('bax_sessions', 'Live browser sessions', status.sessions),
    one('bax_crawls', 'Running crawls', status.crawls),
    one('bax_shells', 'Live shell sessions', status.shells),
    one('bax_execs', 'Running commands in shell sessions', status.execs),
    one('bax_relays', 'Browsers connected through the relay', status.relays),
    by('kind', 'bax_browsers', 'Browser processes in the pool', counts),
    by('kind', 'bax_browsers_unresponsive', 'Browser processes in the pool that do not respond', unresponsive),
    by('kind', 'bax_browser_places_taken', 'Sessions in the browsers of the pool', taken),
    by('kind', 'bax_browser_pages_ready', 'Pages kept ready for the next sessions', warm),
    by('queue', 'bax_queue_length', 'Queued work: sessions, pages and batches that wait for a slot', queues ?? {}),
  ]
}
