import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { keylessCaller } from '../../src/core/access/caller.ts'
import { ProfileStore } from '../../src/engine/store/profiles.ts'
import { metaKey } from '../../src/fleet/crawl/keys.ts'
import { callOf } from '../support/call.ts'
import { linkPage } from '../support/crawl.ts'
import { type CrawlFleet, openCrawlFleet } from '../support/crawl-fleet.ts'
import { titled } from '../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const noState = { cookies: [], origins: [] }

describe.skipIf(noRedis)(titled('a crawl of a fleet that cannot read its pages', noRedis), () => {
  let redis: TestRedis
  let fleet: CrawlFleet
  let site: Site
  let profiles: ProfileStore
  /** Response of the start page, which waits. */
  let held: ServerResponse | undefined

  beforeAll(async () => {
    redis = await startRedis()
    fleet = await openCrawlFleet(redis)
    profiles = new ProfileStore(fleet.stateDir)
    const paths = Array.from({ length: 9 }, (_, at) => `/p/${at}`)
    const pages = paths.map((path) => [path, linkPage(path, paths)])
    site = await serveSite({ ...Object.fromEntries(pages), '/held': (_, response) => void (held = response) })
  })
  afterEach(async () => {
    await fleet.removeWorkers()
    await fleet.expectNothingLeft()
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
    await redis.close()
  })

  test('fails when its profile was deleted', async () => {
    const { profile_id: profile } = await profiles.add('deleted', noState, keylessCaller)
    const id = await fleet.start({ url: `${site.url}/p/0`, profile })
    await profiles.delete(profile, keylessCaller)
    await fleet.addWorkers(1)
    expect(await fleet.ended(id)).toMatchObject({ status: 'failed', completed: 0, code: 'profile_not_found' })
  })

  test('fails when its identity was encrypted with a key that the worker does not have', async () => {
    const id = await fleet.start({ url: `${site.url}/p/0`, cookies: 'a=1' })
    const worker = await fleet.addProcess()
    expect(await fleet.ended(id)).toMatchObject({ status: 'failed', completed: 0, code: 'profile_locked' })
    worker.send('end')
    await once(worker, 'exit')
  })

  test('fails when the crawl that it is compared with was removed', async () => {
    await fleet.addWorkers(1)
    const since = await fleet.start({ url: `${site.url}/p/0` })
    await fleet.ended(since)
    await fleet.removeWorkers()
    const id = await fleet.start({ url: `${site.url}/p/0`, since })
    await redis.client.del(metaKey(since))
    await fleet.addWorkers(1)
    expect(await fleet.ended(id)).toMatchObject({ status: 'failed', completed: 0, code: 'crawl_not_found' })
  })

  test('reports the pages of a worker that came after the profile was deleted', async () => {
    const { profile_id: profile } = await profiles.add('gone', noState, keylessCaller)
    const [first] = await fleet.addWorkers(1)
    const id = await fleet.start({ url: `${site.url}/held`, profile, max_depth: 1 })
    await waitUntil(() => held !== undefined)
    await profiles.delete(profile, keylessCaller)
    first!.visitPages(false)
    await fleet.addWorkers(1)
    const links = Array.from({ length: 9 }, (_, at) => `/p/${at}`)
    held!.setHeader('content-type', 'text/html').end(linkPage('/held', links))
    expect(await fleet.ended(id)).toMatchObject({ status: 'completed', success: true })
    const { errors } = await fleet.crawls.accounts(id, callOf())
    // The first worker may have taken some before.
    expect(errors.length).toBeGreaterThan(0)
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['profile_not_found']))
  })
})
