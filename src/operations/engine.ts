import { z } from 'zod'
import { defineOperation } from '../core/operation/operation.ts'
import { engineStatus } from '../core/shapes/engine.ts'

export const getEngineStatus = defineOperation({
  summary: 'Show the engine: version, browsers, sessions, memory',
  http: 'GET /engine',
  scope: 'admin',
  cli: 'engine status',
  example: 'bax engine status --json',
  show: { as: 'record' },
  input: z.object({}),
  output: engineStatus,
  run: (engine) => engine.status(),
})

export const stopEngine = defineOperation({
  summary: 'Stop the local engine and its browsers',
  http: 'POST /engine/stop',
  scope: 'admin',
  cli: 'engine stop',
  example: 'bax engine stop',
  input: z.object({}),
  output: null,
  errors: ['feature_disabled'],
  run: (engine) => engine.stop(),
})
