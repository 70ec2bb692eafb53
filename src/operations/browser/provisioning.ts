import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { provisionRecord } from '../../core/shapes/session.ts'
import { identifier } from '../../core/shapes/fields.ts'

const input = z.object({
  provision_id: identifier.describe('ID from POST /sessions or `bax session create --no-wait`'),
})

const poll = {
  summary: 'Show the progress of a session provision',
  description: 'Stages only advance: provisioning, scaling, worker_found, creating, ready (or failed).',
  input,
  output: provisionRecord,
  errors: ['provision_not_found' as const],
}

export const pollProvision = defineOperation({
  ...poll,
  http: 'POST /sessions/provision/{provision_id}',
  scope: 'browser',
  run: (engine, { provision_id }, call) => engine.sessions.provision(provision_id, call),
})

export const getProvision = defineOperation({
  ...poll,
  http: 'GET /sessions/provision/{provision_id}',
  scope: 'browser',
  cli: 'session provision <provision_id>',
  example: 'bax session provision prv_3f…',
  show: { as: 'record' },
  run: (engine, { provision_id }, call) => engine.sessions.provision(provision_id, call),
})

export const cancelProvision = defineOperation({
  summary: 'Cancel a session provision',
  http: 'DELETE /sessions/provision/{provision_id}',
  scope: 'browser',
  cli: 'session cancel <provision_id>',
  example: 'bax session cancel prv_3f…',
  allowedWhileDraining: true,
  input,
  output: null,
  errors: ['provision_not_found'],
  run: (engine, { provision_id }, call) => engine.sessions.cancelProvision(provision_id, call),
})
