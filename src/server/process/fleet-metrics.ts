/** Metrics of the workers behind a gateway. */
import type { FleetNumbers } from '../../core/fleet.ts'
import { provisionStage } from '../../core/shapes/session.ts'
import { by, one, type Reading } from './reading.ts'

/** Stages of a provision that has not ended. */
const underWay = provisionStage.exclude(['ready', 'failed']).options

/** Returns the gauges of a fleet; without a status they have no values, apart from the one that reports this. */
export function fleetReadings(status: FleetNumbers | undefined): Reading[] {
  const { workers = [], queues = [], provisions = [] } = status ?? {}
  const sum = (take: (worker: FleetNumbers['workers'][number]) => { used: number; total: number }) =>
    workers.map(take).reduce((sum, share) => ({ used: sum.used + share.used, total: sum.total + share.total }), {
      used: 0,
      total: 0,
    })
  const slots = {
    session: sum(({ sessions }) => sessions),
    shell: sum(({ shells }) => shells),
    relay: sum(({ relays }) => relays),
    page: sum(({ pages }) => pages),
  }
  const shares = (side: 'used' | 'total') =>
    status ? Object.fromEntries(Object.entries(slots).map(([kind, share]) => [kind, share[side]])) : {}
  const inState = (state: string) => workers.filter((worker) => worker.state === state).length
  const atStages = underWay.map((name) => [name, provisions.filter(({ stage }) => stage === name).length] as const)
  return [
    one('bax_fleet_up', 'Whether Redis answers', status ? 1 : 0),
    one(
      'bax_fleet_data_lost',
      'Whether Redis was found without the data of the fleet in the last day',
      status && Number(status.data_lost_at !== null),
    ),
    by(
      'state',
      'bax_fleet_workers',
      'Live workers',
      status ? { ready: inState('ready'), draining: inState('draining') } : {},
    ),
    by('kind', 'bax_fleet_slots', 'Slots of all workers', shares('total')),
    by('kind', 'bax_fleet_slots_used', 'Slots in use on all workers', shares('used')),
    ...queueReadings(queues),
    by(
      'stage',
      'bax_fleet_provisions',
      'Sessions that wait for a worker or are being created',
      status ? Object.fromEntries(atStages) : {},
    ),
    one(
      'bax_fleet_scaler_failing',
      'Whether the last request of the scaler failed',
      status && Number(status.scaler.message !== null),
    ),
    one('bax_fleet_workers_wanted', 'Workers that the scaler was last asked for', status?.scaler.workers ?? undefined),
    one('bax_fleet_workers_needed', 'Workers that the load needs, with a slot in reserve', status?.scaler.needed),
  ]
}

type Queue = FleetNumbers['queues'][number]

const queueGauges: readonly (readonly [name: string, help: string, take: (queue: Queue) => number])[] = [
  ['waiting', 'Waiting jobs', ({ waiting }) => waiting],
  ['active', 'Jobs that workers run', ({ active }) => active],
  ['delayed', 'Jobs that are tried again later', ({ delayed }) => delayed],
  ['failed', 'Failed jobs', ({ failed }) => failed],
  ['oldest_seconds', 'Age of the oldest waiting job', ({ oldest_secs: age }) => age ?? 0],
]

const queueReadings = (queues: readonly Queue[]): Reading[] =>
  queueGauges.map(([name, help, take]) => {
    const values = Object.fromEntries(queues.map((queue) => [queue.queue, take(queue)]))
    return by('queue', `bax_fleet_queue_${name}`, help, values)
  })
