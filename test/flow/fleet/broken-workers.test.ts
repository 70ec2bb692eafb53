/** Workers whose browser or Docker does not work: they get no work for it, and nobody notices. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Capabilities } from '../../../src/core/fleet.ts'
import type { CrawlAnswer } from '../../../src/core/shapes/crawl.ts'
import { locateBrowser } from '../../../src/engine/browser/install/locate.ts'
import { bax } from '../../support/cli.ts'
import { startFleet, type TestFleet } from '../../support/fleet.ts'
import { type DirectoryBench, openBench } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { failureOf } from '../../support/session-steps.ts'
import { serveSite, type Site } from '../../support/site.ts'
import { waitUntil } from '../../support/wait.ts'

type TestWorker = TestFleet['workers'][number]

describe.skipIf(noRedis)(titled('the directory of a fleet with broken workers', noRedis), () => {
  let redis: TestRedis
  let bench: DirectoryBench
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.client.flushall()
    bench = openBench(redis.url)
  })
  afterEach(() => bench.close())

  const reserve = () => bench.directory.reserve({ kind: 'session', owner: null, most: 0 })
  const slots = { session: 4, shell: 4 }

  test('gives a worker only what works, until all of it does', async () => {
    const all: Capabilities = { labels: ['browser', 'render', 'shell'], broken: {} }
    const part: Capabilities = { labels: ['shell'], broken: { browser: 'no browser', render: 'no browser' } }
    let works = part
    const worker = await bench.startWorker({ slots, labels: all.labels }, { capabilities: () => works })
    const record = async () => (await bench.directory.workers())[0]!
    expect(await record()).toMatchObject({ ...part, pages: 0, slots: { session: 0, shell: 4 } })
    expect(await reserve()).toBeUndefined()
    expect(await bench.directory.leastLoaded('render')).toBeUndefined()
    expect(await bench.directory.reserve({ kind: 'shell', owner: null, most: 0 })).toMatchObject({ worker })
    works = all
    worker.report()
    await waitUntil(async () => (await record()).labels.length === 3)
    expect(await record()).toMatchObject({ ...all, pages: 4, slots })
    expect(await reserve()).toMatchObject({ worker: { id: worker.id } })
    expect(await bench.directory.leastLoaded('render')).toMatchObject({ worker: { id: worker.id } })
    works = part
    worker.report()
    await waitUntil(async () => (await record()).labels.length === 1)
    expect(await reserve()).toBeUndefined()
    expect(await bench.directory.leastLoaded('render')).toBeUndefined()
  })

  test('prefers other workers after failures, and uses the failing one when they are full', async () => {
    const [failing, other] = [await bench.startWorker({ slots }), await bench.startWorker({ slots })]
    for (const id of [failing.id, other.id])
      await bench.directory.reserve({ kind: 'session', owner: null, most: 0, worker: id })
    const failed = await bench.directory.reserve({ kind: 'session', owner: null, most: 0, worker: failing.id })
    await bench.directory.release(failed!.id, { workerId: failing.id, kind: 'session' })
    await bench.directory.release('rsv_none', { workerId: failing.id, kind: 'session' })
    const chosen = [await reserve(), await reserve(), await reserve(), await reserve()]
    expect(chosen.map((one) => one?.worker.id)).toEqual([other.id, other.id, other.id, failing.id])
    for (const one of chosen) await bench.directory.release(one!.id)
    // A failure that is reported after the worker has left changes nothing.
    await bench.directory.release('rsv_none', { workerId: 'wrk_gone', kind: 'session' })
    expect(await redis.client.exists('bax:dir:worker:wrk_gone')).toBe(0)
    const penalty = () => redis.client.hget(`bax:dir:worker:${failing.id}`, 'penalty:session')
    for (let beats = 0; beats < 12; beats++) failing.report()
    await waitUntil(async () => (await penalty()) === null)
    await reserve().then((one) =>
      reserve().then((two) =>
        expect(new Set([one?.worker.id, two?.worker.id])).toEqual(new Set([failing.id, other.id])),
      ),
    )
  })

  test('gives pages to other workers after a failure', async () => {
    const [one, two] = [await bench.startWorker(), await bench.startWorker()]
    const first = await bench.directory.leastLoaded('render', new Set(), 'https://example.com')
    first!.done(true)
    const other = first!.worker.id === one.id ? two.id : one.id
    for (const affinity of ['https://example.com', undefined]) {
      const next = await bench.directory.leastLoaded('render', new Set(), affinity)
      expect(next!.worker.id).toBe(other)
      next!.done()
    }
  })
})

describe.skipIf(noRedis)(titled('a fleet with broken workers', noRedis), () => {
  let folder: string
  let site: Site
  let fleet: TestFleet | undefined
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-test-broken-'))
    const links = Array.from({ length: 12 }, (_, at) => `<a href="/${at}">Tea ${at}</a>`)
    const page = `<!doctype html><title>Tea</title><main><h1>Tea</h1><p>A page about tea.</p>${links.join(' ')}</main>`
    site = await serveSite({ '/': page, ...Object.fromEntries(links.map((_, at) => [`/${at}`, page])) })
  })
  afterAll(async () => {
    await site.close()
    await rm(folder, { recursive: true })
  })
  afterEach(async () => {
    await fleet?.close()
    fleet = undefined
  })

  /** Returns a program that is a browser while `works`. */
  const switchable = async (name: string) => {
    const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
    const program = join(folder, `${name}-headless-shell`)
    const marker = join(folder, `${name}-works`)
    await writeFile(
      program,
      `#!/bin/sh\n[ -e "${marker}" ] || { echo "a library is missing" >&2; exit 1; }\nexec "${path}" "$@"\n`,
    )
    await chmod(program, 0o755)
    const set = (works: boolean) => (works ? writeFile(marker, '') : rm(marker, { force: true }))
    return { program, set }
  }
  const labelsOf = async ({ gateway }: TestFleet, id: string) =>
    (await gateway.client.getFleet({})).workers.find(({ worker_id }) => worker_id === id)!

  test('a worker without a browser gets nothing, and is shown with the reason', async () => {
    const dockerHost = `unix://${join(folder, 'no-docker.sock')}`
    const config = { browser: join(folder, 'missing'), shell: { dockerHost } }
    fleet = await startFleet([{ config }, { sessions: 24 }])
    const { client, url } = fleet.gateway
    const [broken, healthy] = fleet.workers as [TestWorker, TestWorker]
    expect(await labelsOf(fleet, broken.id)).toMatchObject({
      state: 'ready',
      labels: ['relay'],
      problem: `browser, render: no browser was found; shell: cannot reach Docker at ${dockerHost} (no such socket)`,
      sessions: { used: 0, total: 0 },
      pages: { used: 0, total: 0 },
    })
    const { stdout } = await bax(['fleet', 'status', '--server', url])
    expect(stdout).toMatch(new RegExp(`${broken.id} .* ready +relay +browser, render: no browser was found`))
    const made = await Promise.all(Array.from({ length: 12 }, () => client.createSession({})))
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set(['ready']))
    expect((await healthy.engine.status()).sessions).toBe(12)
    const scrapes = await Promise.all(
      Array.from({ length: 6 }, () => client.scrape({ url: `${site.url}/`, render: 'browser' })),
    )
    expect(scrapes.map(({ success, warning }) => ({ success, warning }))).toEqual(
      scrapes.map(() => ({ success: true, warning: undefined })),
    )
    const crawl = await client.crawl({ url: `${site.url}/`, limit: 12, render: 'browser' })
    expect(crawl).toMatchObject({ status: 'completed', completed: 12, errors: [] })
  })

  test('a browser that stops working makes no call fail, and the worker returns when it works again', async () => {
    const { program, set } = await switchable('fickle')
    await set(true)
    fleet = await startFleet([{ config: { browser: program }, sessions: 24 }, { sessions: 24 }])
    const { client } = fleet.gateway
    const [fickle, healthy] = fleet.workers as [TestWorker, TestWorker]
    expect(await labelsOf(fleet, fickle.id)).toMatchObject({ problem: null })
    await set(false)
    const made = await Promise.all(Array.from({ length: 24 }, () => client.createSession({})))
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 'ready'))
    expect((await healthy.engine.status()).sessions).toBe(24)
    await waitUntil(async () => (await labelsOf(fleet!, fickle.id)).problem !== null)
    expect((await labelsOf(fleet, fickle.id)).problem).toBe('browser, render: the browser does not start')
    const scrapes = await Promise.all(
      Array.from({ length: 4 }, () => client.scrape({ url: `${site.url}/`, render: 'browser' })),
    )
    expect(scrapes.map(({ warning }) => warning)).toEqual(scrapes.map(() => undefined))
    // All slots of the healthy worker are in use: this session waits for the other one.
    const { provision_id } = await client.createSession({})
    await set(true)
    await waitUntil(async () => (await client.getProvision({ provision_id: provision_id! })).status !== 'provisioning')
    expect(await client.getProvision({ provision_id: provision_id! })).toMatchObject({ status: 'ready' })
    expect((await labelsOf(fleet, fickle.id)).problem).toBeNull()
  })

  test('pages of a crawl are visited by another worker when the browser stops working', async () => {
    const { program, set } = await switchable('crawling')
    await set(true)
    fleet = await startFleet([{ config: { browser: program } }, {}])
    const { client } = fleet.gateway
    const [fickle] = fleet.workers as [TestWorker]
    await set(false)
    const crawl = (await client.crawl({ url: `${site.url}/`, limit: 12, render: 'browser' })) as CrawlAnswer
    expect(crawl).toMatchObject({ status: 'completed', completed: 12, errors: [] })
    expect(crawl.data.map(({ metadata }) => metadata.render)).toEqual(crawl.data.map(() => 'browser'))
    // It noticed this by its pages.
    expect((await labelsOf(fleet, fickle.id)).problem).toBe('browser, render: the browser does not start')
  })

  test('a caller gets the reason if no other worker can do it', async () => {
    const { program, set } = await switchable('alone')
    await set(true)
    fleet = await startFleet([{ config: { browser: program } }])
    await set(false)
    expect(await failureOf(fleet.gateway.client.createSession({}))).toMatchObject({
      code: 'browser_failed',
      status: 503,
      message: expect.stringContaining('the browser did not start'),
    })
  })
})
