/** The parts of `bax serve --fleet`: a gateway on the stores of the fleet. */
import type { Allowances } from '../../core/access/quota.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { ScalingOptions } from '../../core/scaling.ts'
import type { GatewayParts } from '../../fleet/gateway/parts.ts'
import type { Io } from '../io.ts'
import { type FleetAccess, openFleet } from './fleet.ts'

export interface GatewayOptions {
  readonly config: EngineConfig
  readonly allowances: Allowances
  readonly scaling: ScalingOptions
  /** Environment and folder of the programs that the scaler runs. */
  readonly io: Pick<Io, 'env' | 'cwd'>
}

/** Opens a gateway. @throws BaxError `fleet_unavailable`, `invalid_request` */
export async function openGateway(access: FleetAccess, { config, allowances, scaling, io }: GatewayOptions) {
  const [{ openGatewayParts }, { openRedisStores }, { Forwarder }, { createEngine }, { readCa }] = await Promise.all([
    import('../../fleet/gateway/parts.ts'),
    import('../../fleet/stores/open.ts'),
    import('../../server/gateway/forwarder.ts'),
    import('../../engine/index.ts'),
    import('../../server/access/tls-files.ts'),
  ])
  const { log, profileKey, vaultKey } = config
  const ca = access.caFile === undefined ? undefined : readCa(access.caFile)
  const fleet = await openFleet(access, log)
  const { redis, forwarded, secret, identityKey, claim, build, version } = fleet
  try {
    const stores = await openRedisStores({ redis, allowances, log, profileKey, vaultKey })
    const environment = { ...io, ...(config.shell && { docker: config.shell }) }
    const own = createEngine({ ...config, stores, identityKey })
    const whyUnreachable: GatewayParts['whyUnreachable'] = (worker) => forwarder.whyUnreachable(worker)
    const assertData = () => claim.assertData()
    const facts = {
      redis,
      secret,
      build,
      version,
      own,
      allowances,
      scaling,
      environment,
      whyUnreachable,
      assertData,
      log,
    }
    const parts = await openGatewayParts(facts)
    const { directory, provisions, engine } = parts
    const forwarder = new Forwarder({ directory, signer: forwarded, secret, allowances, provisions, ca, log })
    return {
      engine,
      forwarder,
      stores,
      close: async () => {
        forwarder.close()
        await parts.close()
        stores.close()
        fleet.close()
      },
    }
  } catch (error) {
    fleet.close()
    throw error
  }
}
