/** Status and shutdown of the engine, and monitoring of a server. */
import { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { type EngineStatus, engineStatus, readiness, type ReadyParts } from '../core/shapes/engine.ts'

export const health = defineOperation({
  summary: 'Check that the process responds',
  http: 'GET /healthz',
  tag: 'engine',
  scope: 'public',
  runs: inGateway,
  input: z.object({}),
  output: z.object({ status: z.literal('ok') }),
  run: async () => ({ status: 'ok' as const }),
})

export const ready = defineOperation({
  summary: 'Check whether the service can do work',
  description:
    'Succeeds when a browser is installed and starts, the state folder is writable, and the process is not shutting ' +
    'down. Otherwise 503 with the parts in `details`.',
  http: 'GET /readyz',
  tag: 'engine',
  scope: 'public',
  runs: inGateway,
  input: z.object({}),
  output: readiness,
  errors: ['not_ready', 'shutting_down', 'no_capacity'],
  async run(engine, _input, { service }) {
    const accepting = service?.draining ? { ok: false, message: 'the process is shutting down' } : { ok: true }
    const parts: ReadyParts = { accepting, ...(await engine.readiness()) }
    const missing = Object.values(parts).flatMap(({ ok, message }) => (ok ? [] : [message ?? 'unknown']))
    if (missing.length === 0) return { status: 'ready' as const, parts }
    const code = accepting.ok ? 'not_ready' : 'shutting_down'
    throw new BaxError(code, `the service is not ready: ${missing.join('; ')}`, { details: { parts } })
  },
})

export const metrics = defineOperation({
  summary: 'Get metrics in the Prometheus text format',
  description:
    'Requests and their durations by operation and status, sessions, crawls, shells, relays, browsers, queues, memory.',
  http: 'GET /metrics',
  tag: 'engine',
  scope: 'admin',
  runs: inGateway,
  input: z.object({}),
  output: z.string(),
  text: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['feature_disabled'],
  async run(_engine, _input, { service }) {
    if (service?.metrics) return service.metrics()
    throw new BaxError('feature_disabled', 'this engine collects no metrics', { hint: 'use "bax serve"' })
  },
})

/** Adds up the status of workers, below the identity of the first one, which is that of the gateway. */
function joinStatus(all: readonly EngineStatus[]): EngineStatus {
  const sum = (read: (status: EngineStatus) => number) => all.reduce((total, status) => total + read(status), 0)
  const { engine_id, version, home, pid, started_at, socket } = all[0]!
  return {
    engine_id,
    version,
    home,
    pid,
    started_at,
    socket,
    sessions: sum(({ sessions }) => sessions),
    shells: sum(({ shells }) => shells),
    execs: sum(({ execs }) => execs),
    provisions: sum(({ provisions }) => provisions),
    relays: sum(({ relays }) => relays),
    crawls: sum(({ crawls }) => crawls),
    queues: {
      sessions: sum(({ queues }) => queues.sessions),
      pages: sum(({ queues }) => queues.pages),
      commands: sum(({ queues }) => queues.commands),
    },
    egress_refused: {
      private: sum(({ egress_refused: refused }) => refused.private),
      metadata: sum(({ egress_refused: refused }) => refused.metadata),
      port: sum(({ egress_refused: refused }) => refused.port),
      scheme: sum(({ egress_refused: refused }) => refused.scheme),
    },
    browsers: all.flatMap(({ browsers }) => browsers),
    memory_bytes: sum(({ memory_bytes: bytes }) => bytes),
  }
}

export const getEngineStatus = defineOperation({
  summary: 'Show the engine: version, browsers, sessions, memory',
  http: 'GET /engine',
  scope: 'admin',
  runs: { on: 'all', own: true, merge: joinStatus },
  cli: 'engine status',
  example: ['bax engine status', 'bax engine status --json'],
  show: { as: 'record' },
  engine: 'running',
  input: z.object({}),
  output: engineStatus,
  run: (engine) => engine.status(),
})

export const stopEngine = defineOperation({
  summary: 'Stop the local engine and its browsers',
  http: 'POST /engine/stop',
  scope: 'admin',
  runs: inGateway,
  cli: 'engine stop',
  example: 'bax engine stop',
  engine: 'running',
  input: z.object({}),
  output: null,
  errors: ['feature_disabled'],
  run: (engine) => engine.stop(),
})
