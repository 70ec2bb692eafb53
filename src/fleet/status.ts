/** State of the fleet for its operator. */
import { dataLost, type Fleet, type WorkerRecord } from '../core/fleet.ts'
import { limits } from '../core/limits/limits.ts'
import type { FleetProvision, FleetQueue, FleetScaler, FleetStatus, FleetWorker } from '../core/shapes/fleet/status.ts'
import { mixedBuilds, type Build } from './directory/builds.ts'
import type { FleetDirectory } from './directory/directory.ts'
import { Reachability, type WhyUnreachable } from './reachability.ts'
import { neededWorkers, sizeOf } from './scaler/policy.ts'

/** Name under which sessions that wait for a worker appear among the queues. */
export const provisionsQueue = 'provisions'

export interface FleetParts {
  readonly directory: FleetDirectory
  readonly queues: () => Promise<FleetQueue[]>
  readonly whyUnreachable: WhyUnreachable
  /** Returns the provisions under way. */
  readonly provisions?: () => Promise<FleetProvision[]>
  /** Absent for a fixed set of workers. */
  readonly scaler?: () => Promise<ScalerState> | ScalerState
}

type ScalerState = Omit<FleetScaler, 'needed'>

const noScaler: ScalerState = { scaler: 'none', workers: null, message: null }

/** Returns the part of a gateway's engine that `bax fleet` and the metrics use. */
export function fleetOf(parts: FleetParts): Fleet {
  const { directory, provisions = async () => [], scaler = () => noScaler, whyUnreachable } = parts
  const reachability = new Reachability(whyUnreachable)
  const load = async () => {
    const all = [directory.workers(), parts.queues(), provisions(), scaler(), directory.dataLostAt()] as const
    const [workers, queues, provisioned, scaling, data_lost_at] = await Promise.all(all)
    const needed = neededFor(workers, queues)
    return { workers, queues, provisions: provisioned, scaler: { ...scaling, needed }, data_lost_at }
  }
  return {
    async status() {
      const own = directory.build
      const [{ workers, ...others }, skew_ms] = await Promise.all([load(), directory.skewMs()])
      const reasons = await reachability.of(workers)
      const shown = workers.map((worker, at) => ({ ...shownWorker(worker), unreachable: reasons[at]! }))
      const loss = others.data_lost_at === null ? [] : [`${dataLost.message} (since ${others.data_lost_at})`]
      const warning = [...loss, ...warningsOf(shown, own, skew_ms)].join('; ')
      return {
        workers: shown,
        ...others,
        gateway: { ...own, skew_ms },
        ...(warning && { warning }),
      } satisfies FleetStatus
    },
    async numbers() {
      const { workers, ...others } = await load()
      return { ...others, workers: workers.map(shownWorker) }
    },
    drain: (workerId) => directory.drain(workerId),
  }
}

/** Returns the number of workers that a scaler without limits would request. */
function neededFor(workers: readonly WorkerRecord[], queues: readonly FleetQueue[]): number {
  const waitingIn = (isCounted: (name: string) => boolean) =>
    queues.reduce((sum, { queue, waiting }) => sum + (isCounted(queue) ? waiting : 0), 0)
  const load = {
    workers,
    waiting: waitingIn((name) => name === provisionsQueue),
    jobs: waitingIn((name) => name !== provisionsQueue),
  }
  return neededWorkers(load, sizeOf(workers), { min: 0, max: limits.scaling.workers })
}

/** Returns labels that do not work by the reason, such as "browser, render: no browser was found". */
function problemOf({ broken }: WorkerRecord): string | null {
  const entries = Object.entries(broken)
  const reasons = [...new Set(entries.map(([, reason]) => reason))]
  const labelsOf = (reason: string) => entries.filter(([, one]) => one === reason).map(([label]) => label)
  return reasons.map((reason) => `${labelsOf(reason).join(', ')}: ${reason}`).join('; ') || null
}

const shownWorker = (worker: WorkerRecord): Omit<FleetWorker, 'unreachable'> => {
  const share = (kind: keyof WorkerRecord['used']) => ({ used: worker.used[kind], total: worker.slots[kind] })
  const { id, name = null, url, state, labels, version, build, memory_bytes, started_at, skew_ms } = worker
  return {
    worker_id: id,
    name,
    url,
    state,
    labels: [...labels],
    problem: problemOf(worker),
    sessions: share('session'),
    shells: share('shell'),
    relays: share('relay'),
    pages: { used: worker.busy_pages, total: worker.pages },
    memory_bytes,
    version,
    build,
    started_at,
    heartbeat_ms: worker.age_ms,
    skew_ms,
  }
}

/** Describes how far the clock of a worker differs from the own clock if signed requests would fail. */
export function skewOf({ id, skew_ms }: Pick<WorkerRecord, 'id' | 'skew_ms'>, ownSkewMs: number): string | undefined {
  const difference = Math.abs(skew_ms - ownSkewMs)
  return difference > limits.fleet.skewMs ? `the clock of ${id} differs by ${difference} ms` : undefined
}

function warningsOf(workers: readonly FleetWorker[], own: Build, ownSkewMs: number): string[] {
  const clocks = workers.flatMap(({ worker_id: id, skew_ms }) => skewOf({ id, skew_ms }, ownSkewMs) ?? [])
  const cut = workers.flatMap(({ worker_id: id, url, unreachable }) =>
    unreachable === null ? [] : [`${id} at ${url} cannot be reached: ${unreachable}`],
  )
  return [mixedBuilds(workers, own) ?? [], clocks, cut].flat()
}
