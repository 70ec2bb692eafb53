/** Shapes of the state of a fleet. */
import { z } from 'zod'
import { workerLabels } from '../../fleet.ts'
import { named } from '../fields.ts'
import { provisionStage } from '../session.ts'

const share = (what: string) => z.object({ used: z.int(), total: z.int() }).describe(what)

const fleetWorker = named('FleetWorker', {
  worker_id: z.string().describe('Identity of the registration: a worker that lost its lease returns with another one'),
  name: z.string().nullable().describe('Name given by the operator'),
  url: z.string().describe('Private address that gateways connect to'),
  state: z.enum(['ready', 'draining']),
  unreachable: z.string().nullable().describe('Why this gateway cannot connect to it; null if it can'),
  labels: z.array(z.enum(workerLabels)).describe('What it can do now'),
  problem: z
    .string()
    .nullable()
    .describe('Which of its other labels do not work, and why; it gets no work for them. Null if all of them work'),
  sessions: share('Slots for browser sessions'),
  shells: share('Slots for shell sessions'),
  relays: share('Slots for relays'),
  pages: share(
    'Running pages of crawls and scrapes, as of the last heartbeat; only those of crawls are limited by the total',
  ),
  memory_bytes: z.int().describe('Resident memory of the worker process, browsers not included'),
  version: z.string(),
  build: z.string().describe('A gateway gives new work to workers of its own build only'),
  started_at: z.iso.datetime(),
  heartbeat_ms: z.int().describe('Time since the last heartbeat, by the clock of Redis'),
  skew_ms: z.int().describe("How far the clock of Redis is ahead of the worker's"),
})

const fleetQueue = named('FleetQueue', {
  queue: z.string(),
  waiting: z.int(),
  active: z.int(),
  delayed: z.int().describe('Jobs that are tried again later'),
  failed: z.int(),
  oldest_secs: z.number().nullable().describe('Age of the oldest waiting job; null without one'),
})

const fleetProvision = named('FleetProvision', {
  provision_id: z.string(),
  stage: provisionStage,
  age_secs: z.number().describe('Time since it was requested'),
})

const fleetScaler = named('FleetScaler', {
  scaler: z.string().describe('What starts workers, such as "Swarm service bax_worker"; none for a fixed set'),
  workers: z.int().nullable().describe('Number of workers that it was last asked for; null if it was not asked'),
  needed: z
    .int()
    .describe('Number of workers that the load needs, with a slot in reserve; without the limits of a scaler'),
  message: z.string().nullable().describe('Why the last request failed; null if it did not'),
})

export const fleetStatus = named('FleetStatus', {
  workers: z.array(fleetWorker).describe('Live workers, oldest first'),
  queues: z.array(fleetQueue).describe('Queues of work that no worker is bound to'),
  provisions: z.array(fleetProvision).describe('Sessions that wait for a worker or are being created, oldest first'),
  scaler: fleetScaler,
  gateway: z.object({
    version: z.string(),
    build: z.string(),
    skew_ms: z.int().describe("How far the clock of Redis is ahead of the gateway's"),
  }),
  data_lost_at: z.iso
    .datetime()
    .nullable()
    .describe('When Redis was found without the data of the fleet, in the last day; null if it was not'),
  warning: z.string().optional().describe('Differences of builds or clocks, and lost data'),
})

export type FleetStatus = z.output<typeof fleetStatus>
export type FleetWorker = z.output<typeof fleetWorker>
export type FleetQueue = z.output<typeof fleetQueue>
export type FleetProvision = z.output<typeof fleetProvision>
export type FleetScaler = z.output<typeof fleetScaler>
