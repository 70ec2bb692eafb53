import { z } from 'zod'
import { defineOperation } from '../../core/operation/operation.ts'
import { type OnObject, onObject } from '../../core/operation/placement.ts'
import { provisionRecord } from '../../core/shapes/session.ts'
import { identifier } from '../../core/shapes/fields.ts'
import { samples } from '../samples.ts'

const input = z.object({
  provision_id: identifier.describe('ID from POST /sessions or `bax session create --no-wait`'),
})

/** Provisions that wait for a worker are in the gateway; others in the pool of theirs. */
const onProvision: OnObject = { ...onObject('provision_id', ['provision']), unknown: 'gateway' }

const poll = {
  summary: 'Show the progress of a session provision',
  description: 'Stages only advance: provisioning, scaling, worker_found, creating, ready (or failed).',
  sample: samples.provision,
  input,
  output: provisionRecord,
}

export const pollProvision = defineOperation({
  ...poll,
  http: 'POST /sessions/provision/{provision_id}',
  scope: 'browser',
  runs: onProvision,
  run: (engine, { provision_id }, call) => engine.sessions.provision(provision_id, call),
})

export const getProvision = defineOperation({
  ...poll,
  http: 'GET /sessions/provision/{provision_id}',
  scope: 'browser',
  runs: onProvision,
  cli: 'session provision <provision_id>',
  example: ['bax session provision prv_3f…', 'bax session provision prv_3f… --json'],
  show: { as: 'record' },
  run: (engine, { provision_id }, call) => engine.sessions.provision(provision_id, call),
})

export const cancelProvision = defineOperation({
  summary: 'Cancel a session provision',
  http: 'DELETE /sessions/provision/{provision_id}',
  scope: 'browser',
  runs: onProvision,
  cli: 'session cancel <provision_id>',
  example: 'bax session cancel prv_3f…',
  allowedWhileDraining: true,
  sample: samples.provision,
  input,
  output: null,
  run: (engine, { provision_id }, call) => engine.sessions.cancelProvision(provision_id, call),
})
