/** The server process: serves an engine until it receives a signal, drains, and cleans up. */
import type { Hono } from 'hono'
import type { Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import type { Engine } from '../../core/engine.ts'
import type { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Service } from '../../core/operation/call.ts'
import type { Stores } from '../../core/stores.ts'
import type { ProcessErrors } from '../../core/process/unhandled-errors.ts'
import { type AppOptions, createApp } from '../app.ts'
import type { WorkSlots } from '../access/load.ts'
import type { Forwarder } from '../gateway/forwarder.ts'
import { Drain, workerHeld } from './drain.ts'
import type { Gate } from '../access/gate.ts'
import { IdempotencyCache } from '../request/idempotency.ts'
import { LazyMcp, type OpenMcp } from '../mcp.ts'
import { aborted, handleUncaughtErrors, stackOf } from './uncaught-errors.ts'
import { type Listener, listen, type TcpAddress } from './listen.ts'
import { type Meter, openMeter } from './metrics.ts'
import { RateLimiter } from '../../core/access/rate-limiter.ts'
import type { AppEnv } from '../request/env.ts'
import { requestLogger, type RequestListener } from '../request/requests.ts'
import { lacksSandbox, sandboxHint, sandboxWarning } from '../../core/process/sandbox.ts'

export interface ServeOptions {
  readonly engine: Engine
  readonly gate: Gate
  /** Quotas and rate limits of callers. */
  readonly allowances: Allowances
  /** Stores that replace those of this process, where machines share them. */
  readonly stores?: Partial<Stores>
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
  /** Set on a gateway: passes requests to the workers. */
  readonly forwarder?: Forwarder
  /** Opens the endpoint of `/mcp`; absent on a worker. */
  readonly openMcp?: OpenMcp
  /** Set on a worker. */
  readonly worker?: ServedWorker
}

/** A worker of a fleet, as its server sees it. */
export interface ServedWorker {
  readonly workSlots: WorkSlots
  /** How it proves to gateways that it has the secret, without a certificate; absent behind a proxy that has one. */
  readonly channel: TcpAddress['channel']
  /** Aborted when the worker is drained: it accepts no new work, and what it holds may go on until it ends. */
  readonly drained: AbortSignal
  /** Whether it exits once it is drained and holds nothing. */
  readonly exitsWhenDrained: boolean
  /** Called when its browser or Docker is unavailable to a request. */
  readonly unavailable: (error: BaxError) => void
  /** Called with the address that the server listens on. @throws BaxError */
  listening(address: string): Promise<void>
  /** Called when it is to accept no new work. */
  draining(): Promise<void>
  /** Called when everything has ended, and nothing is served any more. */
  ended(): Promise<void>
}

/**
 * Serves until `signal` is aborted, then drains. If this fails to start, the caller closes the engine.
 * @throws BaxError `engine_failed` when it cannot listen on an address, `internal_error` after an uncaught exception.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { engine, gate, log, signal, stores, forwarder, worker } = options
  const drain = new Drain(worker && workerHeld)
  const idempotency = stores?.idempotency ?? new IdempotencyCache()
  const rates = stores?.rates ?? new RateLimiter(options.allowances)
  let inFlight = 0
  const meter = await openMeter(engine, () => inFlight)
  const service: Service = {
    get draining() {
      return drain.begun
    },
    metrics: () => meter.text(),
  }
  const requestListener = listenerOf(meter, log, (change) => void (inFlight += change))
  const mcp = mcpOf(options, (request) => app.fetch(request))
  const app: Hono<AppEnv> = createApp({
    engine,
    gate,
    sockets: 'here',
    rates,
    stores: { ...stores, idempotency },
    service,
    drain,
    forwarder,
    mcp,
    workSlots: worker?.workSlots,
    onUnavailable: worker?.unavailable,
    requestListener,
    onError: errorLogger(log),
  })
  const listeners: Listener[] = []
  const { crashed, stop } = handleUncaughtErrors(options.faults, log)
  try {
    if (options.metrics) listeners.push(await serveMetrics(metricsApp(meter, drain), options.metrics, log))
    const sockets = { engine, gate, own: false, drain, rates, requestListener, forwarder }
    const { connection } = limits
    // The header of a gateway contains the URL once more.
    const forwardable = gate.forwarded ? { ...connection, headerBytes: 3 * connection.headerBytes } : connection
    const listener = await listen(app, { ...options.address, channel: worker?.channel }, sockets, forwardable)
    listeners.push(listener)
    warnAtStart(options)
    await worker?.listening(listener.address)
    log('info', `bax is listening on ${listener.address}`)
    await aborted(AbortSignal.any([signal, crashed, ...endingsOf(worker, drain)]))
    // After a crash no work is started or waited for.
    if (crashed.aborted) drain.begin(0)
    else await drainWork(options, drain)
    await mcp?.close()
    await engine.close()
    drain.end()
    await worker?.ended()
    log('info', 'ended')
    crashed.throwIfAborted()
  } finally {
    await Promise.all(listeners.map((listener) => listener.close(limits.engine.stopGraceMs)))
    stop()
  }
}

async function serveMetrics(app: Parameters<typeof listen>[0], address: TcpAddress, log: Log): Promise<Listener> {
  const listener = await listen(app, address)
  log('info', `metrics are at ${listener.address}/metrics`)
  return listener
}

/** Calls the API of this server. */
type FetchOwn = (request: Request) => Response | Promise<Response>

function mcpOf({ openMcp, engine, log, stores }: ServeOptions, fetch: FetchOwn) {
  const calls = stores?.calls ?? new IdempotencyCache(limits.mcp.repeats)
  return openMcp && new LazyMcp(() => openMcp({ fetch, keys: engine.keys, calls, log }))
}

function warnAtStart({ gate, forwarder, log }: ServeOptions): void {
  // A gateway starts no browsers.
  if (!forwarder && lacksSandbox(process.getuid?.())) log('warn', sandboxWarning, { hint: sandboxHint })
  if (gate.keys?.required() === false)
    log('warn', 'no API key is required: every program on this machine can use the server', {
      hint: 'run "bax key create NAME --server URL"',
    })
}

/** Logs and counts requests; `count` receives the change of the number of open ones. */
function listenerOf(meter: Meter, log: Log, count: (change: number) => void): RequestListener {
  const logRequest = requestLogger(log)
  return {
    open: () => count(1),
    done(request) {
      count(-1)
      meter.count(request)
      logRequest(request)
    },
  }
}

/** Waits for running work. Afterwards the engine closes, which ends streams, and then the listeners close. */
async function drainWork({ engine, log, signal, drainMs, worker }: ServeOptions, drain: Drain): Promise<void> {
  await worker?.draining()
  const limit = () => {
    drain.begin(drainMs)
    log('info', 'draining', { reason: String(signal.reason), within_secs: drainMs / 1000 })
  }
  if (signal.aborted) limit()
  else {
    log('info', 'draining', { reason: String(worker?.drained.reason) })
    signal.addEventListener('abort', limit, { once: true })
  }
  const start = performance.now()
  const finished = await drain.finished(engine)
  const ms = Math.round(performance.now() - start)
  if (finished) log('info', 'drained', { ms })
  else log('warn', 'timed out while draining: remaining work is cancelled', { ms })
}

/** Stops accepting work when the worker is drained; returns the signal if it ends then. */
function endingsOf(worker: ServedWorker | undefined, drain: Drain): AbortSignal[] {
  if (!worker) return []
  const { drained, exitsWhenDrained } = worker
  drained.addEventListener('abort', () => drain.begin(limits.session.maxTimeoutSecs * 1000), { once: true })
  return exitsWhenDrained ? [drained] : []
}

const errorLogger =
  (log: Log): AppOptions['onError'] =>
  (error, request_id) =>
    log(error.status === 500 ? 'error' : 'warn', error.message, {
      request_id,
      ...(error.details && { details: error.details }),
      ...(error.hint && { hint: error.hint }),
      cause: stackOf(error.cause),
    })

/** The app of the metrics address, which serves nothing else; probes of workers, which need a signature, use it too. */
const metricsApp = (meter: Meter, drain: Drain) => ({
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/readyz') return Response.json({ accepting: !drain.begun }, { status: drain.begun ? 503 : 200 })
    if (pathname !== '/metrics') return new Response(null, { status: 404 })
    return new Response(await meter.text(), { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } })
  },
})
