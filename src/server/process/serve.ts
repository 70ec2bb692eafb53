/** An engine as a service: answers until it is told to end, finishes what runs, and leaves nothing behind. */
import type { Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import type { Engine } from '../../core/engine.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Service } from '../../core/operation/service.ts'
import type { ProcessFaults } from '../../core/process/orphans.ts'
import { createApp } from '../app.ts'
import { Drain } from './drain.ts'
import type { Gate } from '../access/gate.ts'
import { openLastResort } from './last-resort.ts'
import { type Listener, listen } from './listen.ts'
import { type Meter, openMeter } from './metrics.ts'
import { Rates } from '../access/rate.ts'
import { accessLine, type RequestEar } from '../request/requests.ts'
import { lacksSandbox, sandboxHint, sandboxOff } from '../../core/process/sandbox.ts'

interface TcpAddress {
  readonly host: string
  readonly port: number
}

export interface ServeOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** What callers may have and do. */
  readonly allowances: Allowances
  readonly address: TcpAddress
  /** An address of its own for the metrics, where no key is asked for. */
  readonly metrics?: TcpAddress
  readonly log: Log
  /** How long what runs may take to finish when the server is told to end. */
  readonly drainMs: number
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal
  /** Left out where the server is not a process of its own. */
  readonly faults?: ProcessFaults
}

/**
 * Serves until it is told to end, and then drains. The engine is the caller's to close if this fails to start.
 * @throws BaxError `engine_failed` when an address cannot be had, `internal_error` when an error that nobody caught ended it.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { engine, gate, log, signal } = options
  const drain = new Drain()
  const rates = new Rates(options.allowances)
  let inFlight = 0
  const meter = await openMeter(engine, () => inFlight)
  const service: Service = {
    get draining() {
      return drain.begun
    },
    metrics: () => meter.text(),
  }
  const tell = accessLine(log)
  const ear: RequestEar = {
    open: () => void (inFlight += 1),
    done(request) {
      inFlight -= 1
      meter.count(request)
      tell(request)
    },
  }
  const app = createApp({
    engine,
    gate,
    sockets: 'here',
    rates,
    service,
    drain,
    ear,
    onFault: (error, request_id) =>
      log(error.status === 500 ? 'error' : 'warn', error.message, {
        request_id,
        ...(error.details && { details: error.details }),
        ...(error.hint && { hint: error.hint }),
        cause: causeOf(error.cause),
      }),
  })
  const listeners: Listener[] = []
  const { crashed, stop } = openLastResort(options.faults, log)
  try {
    if (options.metrics) {
      const apart = await listen(metricsApp(meter), options.metrics)
      listeners.push(apart)
      log('info', `metrics are at ${apart.address}/metrics`)
    }
    const listener = await listen(app, options.address, { engine, gate, own: false, drain, rates, ear })
    listeners.push(listener)
    if (lacksSandbox(process.getuid?.())) log('warn', sandboxOff, { hint: sandboxHint })
    log('info', `bax is listening on ${listener.address}`)
    await aborted(AbortSignal.any([signal, crashed]))
    // After a crash nothing new is begun, and what runs is not waited for.
    if (crashed.aborted) drain.begin(0)
    else await endInPeace(options, drain)
    await engine.close()
    log('info', 'ended')
    crashed.throwIfAborted()
  } finally {
    await Promise.all(listeners.map((listener) => listener.close(limits.engine.stopGraceMs)))
    stop()
  }
}

/** Lets what runs finish; after it the engine ends, which tells those who watch, and at last the doors close. */
async function endInPeace({ engine, log, signal, drainMs }: ServeOptions, drain: Drain): Promise<void> {
  drain.begin(drainMs)
  const start = performance.now()
  log('info', 'draining', { reason: String(signal.reason), within_secs: drainMs / 1000 })
  const finished = await drain.finished(engine)
  const ms = Math.round(performance.now() - start)
  if (finished) log('info', 'drained', { ms })
  else log('warn', 'the time to drain is over: what still runs is ended', { ms })
}

/** On the address for metrics nothing else is answered. */
const metricsApp = (meter: Meter) => ({
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/metrics') return new Response(null, { status: 404 })
    return new Response(await meter.text(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
  },
})

const causeOf = (cause: unknown): string => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
