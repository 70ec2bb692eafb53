/** What those ask who look after a server: is it alive, can it work, what has it done. */
import { z } from 'zod'
import { BaxError } from '../core/errors/errors.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { readiness, type ReadyParts } from '../core/shapes/engine.ts'

export const health = defineOperation({
  summary: 'Say that the process answers',
  http: 'GET /healthz',
  scope: 'public',
  cli: null,
  input: z.object({}),
  output: z.object({ status: z.literal('ok') }),
  run: async () => ({ status: 'ok' as const }),
})

export const ready = defineOperation({
  summary: 'Say whether the service can do work',
  description:
    'A browser is there and starts, the state folder can be written, and the process is not about to end. Otherwise ' +
    '503 with the parts in `details`.',
  http: 'GET /readyz',
  scope: 'public',
  cli: null,
  input: z.object({}),
  output: readiness,
  errors: ['not_ready', 'shutting_down'],
  async run(engine, _input, { service }) {
    const accepting = service?.draining ? { ok: false, message: 'it is about to end' } : { ok: true }
    const parts: ReadyParts = { accepting, ...(await engine.readiness()) }
    const missing = Object.values(parts).flatMap(({ ok, message }) => (ok ? [] : [message ?? 'unknown']))
    if (missing.length === 0) return { status: 'ready' as const, parts }
    const code = accepting.ok ? 'not_ready' : 'shutting_down'
    throw new BaxError(code, `the service cannot work now: ${missing.join('; ')}`, { details: { parts } })
  },
})

export const metrics = defineOperation({
  summary: 'Counters and gauges of the service for Prometheus',
  description:
    'Requests and their durations by operation and status, sessions, crawls, shells, relays, browsers, queues, memory.',
  http: 'GET /metrics',
  scope: 'admin',
  cli: null,
  input: z.object({}),
  output: z.string(),
  text: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['feature_disabled'],
  async run(_engine, _input, { service }) {
    if (service?.metrics) return service.metrics()
    throw new BaxError('feature_disabled', 'this engine keeps no metrics', { hint: '`bax serve` does' })
  },
})
