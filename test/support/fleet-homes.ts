/** A fleet in place of one engine, for tests that run once more behind a gateway (the project `fleet`). */
import type { EngineConfig } from '../../src/core/config/config.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { startFleet } from './fleet.ts'
import type { Homes } from './homes.ts'

/** Opens a gateway with two workers, which share the slots of the pool. All clients are those of the gateway. */
export async function openFleetHomes(given: Partial<EngineConfig>): Promise<Homes> {
  const config = { writeAnywhere: true, ...given }
  const { browsers = limits.pool.browsers, contextsPerBrowser = limits.pool.contextsPerBrowser } = config.pool ?? {}
  const slots = browsers * contextsPerBrowser
  const halves = [Math.ceil(slots / 2), Math.floor(slots / 2)]
  const fleet = await startFleet(
    halves.map((sessions) => ({ config, sessions })),
    config,
  )
  const { engine, url, client, transport } = fleet.gateway
  return {
    engine,
    stateDir: fleet.folder,
    baseUrl: url,
    clients: { embedded: client, unix: client, http: client },
    transports: { embedded: transport, unix: transport, http: transport },
    close: () => fleet.close(),
  }
}
