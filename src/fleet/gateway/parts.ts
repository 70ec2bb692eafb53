/** Parts of a gateway: placement, provisions, crawls, and the state of the fleet. */
import type { Redis } from 'ioredis'
import type { Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import type { Engine } from '../../core/engine.ts'
import type { ScalingOptions } from '../../core/scaling.ts'
import type { LazyScraper } from '../../engine/scrape/lazy-scraper.ts'
import { checkCrawl } from '../../engine/crawl/plan.ts'
import { CrawlService } from '../../engine/crawl/crawls.ts'
import { type FleetCrawlFacts, FleetCrawlHost } from '../crawl/host.ts'
import type { Build } from '../directory/builds.ts'
import { type DirectoryOptions, openDirectory } from '../directory/directory.ts'
import { JobQueues } from '../queues.ts'
import type { ScalerEnvironment } from '../scaler/open.ts'
import { scalingState } from '../scaler/state.ts'
import { fleetOf, type FleetParts } from '../status.ts'
import { gatewayEngine } from './gateway-engine.ts'
import { openProvisioning } from './provisioning.ts'

export interface GatewayParts extends Build {
  /** A connection that others may share; it is not closed. */
  readonly redis: Redis
  readonly secret: Buffer
  /** An engine with the stores of the fleet. */
  readonly own: Engine & { readonly extractor: LazyScraper }
  readonly allowances: Allowances
  readonly scaling: ScalingOptions
  readonly environment: ScalerEnvironment
  readonly whyUnreachable: FleetParts['whyUnreachable']
  readonly assertData: NonNullable<DirectoryOptions['assertData']>
  readonly log: Log
}

/** Opens the parts of a gateway. @throws BaxError `fleet_unavailable` */
export async function openGatewayParts(options: GatewayParts) {
  const { redis, secret, build, version, own, allowances, scaling, environment, whyUnreachable, log } = options
  const directory = openDirectory({ redis, build, version, assertData: options.assertData })
  const jobQueues = new JobQueues(redis)
  const jobs = async () => (await jobQueues.of(build)).reduce((sum, { waiting }) => sum + waiting, 0)
  const member = { secret, build }
  const provisioning = await openProvisioning({ redis, directory, member, scaling, environment, jobs, log })
  const { provisions, scales } = provisioning
  const queues = async () => (await Promise.all([jobQueues.all(), provisioning.queue()])).flat()
  const { mostPages } = own.crawls
  const check: FleetCrawlFacts['check'] = async (plan, signal) => {
    await directory.assertOwnBuild()
    await checkCrawl(plan, await own.extractor.load(), signal)
  }
  const identities = async () => (await own.extractor.load()).identities
  const workers = async () => (await directory.workers()).filter(({ pages }) => pages > 0).length
  const crawls = new CrawlService(
    new FleetCrawlHost({ redis, build, log, mostPages, allowances, check, identities, workers }),
  )
  const fleet = fleetOf({
    directory,
    queues,
    provisions: provisioning.list,
    scaler: () => shownScaler(redis),
    whyUnreachable,
  })
  return {
    directory,
    provisions,
    engine: gatewayEngine({ engine: own, directory, allowances, provisions, crawls, fleet, scales }),
    async close() {
      await Promise.all([provisioning.close(), crawls.close()])
      directory.close()
    },
  }
}

/** Returns the state of the scaler, which another gateway may run. */
async function shownScaler(redis: Redis) {
  const state = await scalingState(redis)
  return { scaler: state?.scaler ?? 'none', workers: state?.wanted ?? null, message: state?.error ?? null }
}
