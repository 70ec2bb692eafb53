/** Workers behind a gateway (`bax serve --fleet`). */
import { z } from 'zod'
import type { Engine } from '../core/engine.ts'
import { BaxError } from '../core/errors/errors.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { identifier } from '../core/shapes/fields.ts'
import { fleetStatus } from '../core/shapes/fleet/status.ts'

export const getFleet = defineOperation({
  summary: 'Show workers, queues, provisions and the scaler',
  description: 'Only for servers with a fleet. Workers that lost their lease are not listed.',
  http: 'GET /fleet',
  scope: 'admin',
  runs: inGateway,
  cli: 'fleet status',
  example: ['bax fleet status --server https://bax.example.com', 'bax fleet status --json'],
  show: {
    as: 'table',
    items: 'workers',
    columns: [
      'worker_id',
      'name',
      'url',
      'state',
      'labels',
      'problem',
      'sessions',
      'shells',
      'relays',
      'pages',
      'version',
      'heartbeat_ms',
    ],
    also: [
      { items: 'queues', columns: ['queue', 'waiting', 'active', 'delayed', 'failed', 'oldest_secs'] },
      { items: 'provisions', columns: ['provision_id', 'stage', 'age_secs'] },
      { items: 'scaler', columns: ['scaler', 'workers', 'needed', 'message'] },
    ],
  },
  engine: 'running',
  input: z.object({}),
  output: fleetStatus,
  errors: ['feature_disabled'],
  run: (engine) => fleetOf(engine).status(),
})

export const drainWorker = defineOperation({
  summary: 'Stop giving new work to a worker',
  description:
    'It finishes its pages, and keeps its sessions until they end. Draining cannot be undone; a worker that is started ' +
    'again accepts work.',
  http: 'POST /fleet/workers/{worker_id}/drain',
  scope: 'admin',
  runs: inGateway,
  cli: 'fleet drain <worker_id>',
  example: [
    'bax fleet drain wrk_8dKq2mVxT5nYb1Rj',
    'bax fleet drain wrk_8dKq2mVxT5nYb1Rj --server https://bax.example.com',
  ],
  engine: 'running',
  sample: { worker_id: 'wrk_8dKq2mVxT5nYb1Rj' },
  input: z.object({ worker_id: identifier.describe('ID of the worker, from the fleet status') }),
  output: null,
  errors: ['feature_disabled', 'worker_not_found'],
  run: (engine, { worker_id }) => fleetOf(engine).drain(worker_id),
})

/** @throws BaxError `feature_disabled` */
function fleetOf({ fleet }: Engine): NonNullable<Engine['fleet']> {
  if (fleet) return fleet
  throw new BaxError('feature_disabled', 'this server has no fleet', {
    hint: 'start it with "bax serve --fleet redis://…"',
  })
}
