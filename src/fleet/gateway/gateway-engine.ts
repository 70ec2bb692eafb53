/** The engine of a gateway: it works on the stores of the fleet, and starts no browser. */
import { allowanceOf, type Allowances } from '../../core/access/quota.ts'
import type { Engine } from '../../core/engine.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import type { Directory } from '../../core/fleet.ts'
import type { FleetProvisions } from '../../core/provisions.ts'
import type { ReadyPart } from '../../core/shapes/engine.ts'

export interface GatewayEngineOptions {
  /** An engine with the stores of the fleet. */
  readonly engine: Engine
  readonly directory: Directory
  readonly allowances: Allowances
  readonly provisions: FleetProvisions
  /** Maps are no part of it: workers make them. */
  readonly crawls: Omit<Engine['crawls'], 'map'>
  readonly fleet: NonNullable<Engine['fleet']>
  /** Whether the fleet may have no workers while nobody waits for one; the gateway is ready then. */
  readonly scales: boolean
}

/** Returns an engine whose sessions are provisioned for workers, and which is ready if a worker is. */
export function gatewayEngine(options: GatewayEngineOptions): Engine {
  const { engine, directory, allowances, provisions, crawls, fleet, scales } = options
  return {
    ...engine,
    fleet,
    crawls: Object.assign(crawls, { map: engine.crawls.map }),
    sessions: provisioned(engine, provisions, allowances),
    readiness: async () => {
      const { state, workers } = await stateOf(directory)
      const browser: ReadyPart =
        workers > 0 || scales ? { ok: true } : { ok: false, message: 'no worker with a browser is ready' }
      return { browser, state }
    },
  }
}

function provisioned(
  { sessions, profiles }: Engine,
  provisions: FleetProvisions,
  allowances: Allowances,
): Engine['sessions'] {
  return {
    ...sessions,
    // Requests for sessions arrive here when no worker has a free slot.
    create: async (input, call) => {
      // Fails now, as on a worker, and not later in the provision.
      if (input.profile_id !== undefined) await profiles.get(input.profile_id, call)
      const most = allowanceOf(call.caller, allowances).sessions
      return { status: 'provisioning', provision_id: await provisions.begin({ input, most }, call) }
    },
    provision: (id, call) => provisions.get(id, call),
    // Workers close the sessions.
    closeOwn: async ({ caller }) => ({ sessions: [], provisions: await provisions.cancelOwn(caller) }),
    cancelProvision: (id, call) => provisions.cancel(id, call),
  }
}

async function stateOf(directory: Directory): Promise<{ readonly state: ReadyPart; readonly workers: number }> {
  try {
    const workers = await directory.workers()
    const ready = workers.filter(({ state, labels }) => state === 'ready' && labels.includes('browser'))
    return { state: { ok: true }, workers: ready.length }
  } catch (error) {
    return { state: { ok: false, message: `the store of the fleet is away: ${asBaxError(error).code}` }, workers: 0 }
  }
}
