import { z } from 'zod'
import { defineOperation } from '../core/operation.ts'
import { engineStatus } from '../core/shapes/engine.ts'

export const health = defineOperation({
  summary: 'Say that the process answers',
  http: 'GET /healthz',
  scope: 'admin',
  cli: null,
  input: z.object({}),
  output: z.object({ status: z.literal('ok') }),
  run: async () => ({ status: 'ok' as const }),
})

export const getEngineStatus = defineOperation({
  summary: 'Show the engine: version, browsers, sessions, memory',
  http: 'GET /engine',
  cli: 'engine status',
  example: 'bax engine status --json',
  scope: 'admin',
  show: { as: 'record' },
  input: z.object({}),
  output: engineStatus,
  run: (engine) => engine.status(),
})

export const stopEngine = defineOperation({
  summary: 'Stop the local engine with its sessions and browsers',
  http: 'POST /engine/stop',
  cli: 'engine stop',
  example: 'bax engine stop',
  input: z.object({}),
  output: null,
  errors: ['feature_disabled'],
  run: (engine) => engine.stop(),
})
