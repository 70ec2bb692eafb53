/** The server process: serves an engine until it receives a signal, drains, and cleans up. */
import type { Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import type { Engine } from '../../core/engine.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Service } from '../../core/operation/call.ts'
import type { ProcessErrors } from '../../core/process/unhandled-errors.ts'
import { createApp } from '../app.ts'
import { Drain } from './drain.ts'
import type { Gate } from '../access/gate.ts'
import { aborted, handleUncaughtErrors, stackOf } from './uncaught-errors.ts'
import { type Listener, listen } from './listen.ts'
import { type Meter, openMeter } from './metrics.ts'
import { RateLimiter } from '../access/rate.ts'
import { requestLogger, type RequestListener } from '../request/requests.ts'
import { lacksSandbox, sandboxHint, sandboxWarning } from '../../core/process/sandbox.ts'

interface TcpAddress {
  readonly host: string
  readonly port: number
}

export interface ServeOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** Quotas and rate limits of callers. */
  readonly allowances: Allowances
  readonly address: TcpAddress
  /** Separate address for metrics, which requires no key. */
  readonly metrics?: TcpAddress
  readonly log: Log
  /** Time for running work to finish at shutdown, in milliseconds. */
  readonly drainMs: number
  /** Aborted when the process receives a signal to exit. */
  readonly signal: AbortSignal
  /** Uncaught errors of the process; absent if the server shares its process. */
  readonly faults?: ProcessErrors
}

/**
 * Serves until `signal` is aborted, then drains. If this fails to start, the caller closes the engine.
 * @throws BaxError `engine_failed` when it cannot listen on an address, `internal_error` after an uncaught exception.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { engine, gate, log, signal } = options
  const drain = new Drain()
  const rates = new RateLimiter(options.allowances)
  let inFlight = 0
  const meter = await openMeter(engine, () => inFlight)
  const service: Service = {
    get draining() {
      return drain.begun
    },
    metrics: () => meter.text(),
  }
  const logRequest = requestLogger(log)
  const requestListener: RequestListener = {
    open: () => void (inFlight += 1),
    done(request) {
      inFlight -= 1
      meter.count(request)
      logRequest(request)
    },
  }
  const app = createApp({
    engine,
    gate,
    sockets: 'here',
    rates,
    service,
    drain,
    requestListener,
    onError: (error, request_id) =>
      log(error.status === 500 ? 'error' : 'warn', error.message, {
        request_id,
        ...(error.details && { details: error.details }),
        ...(error.hint && { hint: error.hint }),
        cause: stackOf(error.cause),
      }),
  })
  const listeners: Listener[] = []
  const { crashed, stop } = handleUncaughtErrors(options.faults, log)
  try {
    if (options.metrics) {
      const metricsListener = await listen(metricsApp(meter), options.metrics)
      listeners.push(metricsListener)
      log('info', `metrics are at ${metricsListener.address}/metrics`)
    }
    const listener = await listen(app, options.address, { engine, gate, own: false, drain, rates, requestListener })
    listeners.push(listener)
    if (lacksSandbox(process.getuid?.())) log('warn', sandboxWarning, { hint: sandboxHint })
    log('info', `bax is listening on ${listener.address}`)
    await aborted(AbortSignal.any([signal, crashed]))
    // After a crash no work is started or waited for.
    if (crashed.aborted) drain.begin(0)
    else await drainWork(options, drain)
    await engine.close()
    log('info', 'ended')
    crashed.throwIfAborted()
  } finally {
    await Promise.all(listeners.map((listener) => listener.close(limits.engine.stopGraceMs)))
    stop()
  }
}

/** Waits for running work. Afterwards the engine closes, which ends streams, and then the listeners close. */
async function drainWork({ engine, log, signal, drainMs }: ServeOptions, drain: Drain): Promise<void> {
  drain.begin(drainMs)
  const start = performance.now()
  log('info', 'draining', { reason: String(signal.reason), within_secs: drainMs / 1000 })
  const finished = await drain.finished(engine)
  const ms = Math.round(performance.now() - start)
  if (finished) log('info', 'drained', { ms })
  else log('warn', 'timed out while draining: remaining work is cancelled', { ms })
}

/** The app of the metrics address, which serves nothing else. */
const metricsApp = (meter: Meter) => ({
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== '/metrics') return new Response(null, { status: 404 })
    return new Response(await meter.text(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
  },
})
