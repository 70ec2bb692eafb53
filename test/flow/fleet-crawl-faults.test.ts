import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { allowancesOf } from '../../src/core/access/quota.ts'
import { limits } from '../../src/core/limits/limits.ts'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import type { Frame } from '../../src/core/operation/call.ts'
import { buildsKey } from '../../src/fleet/crawl/keys.ts'
import { callOf } from '../support/call.ts'
import { linkPage } from '../support/crawl.ts'
import { comparable, type CrawlFleet, openCrawlFleet, shortLocks } from '../support/crawl-fleet.ts'
import { noRedis, startRedis, type TestRedis } from '../support/redis.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const pages = 60

describe.skipIf(noRedis)(`crawls of a fleet that loses parts${noRedis ? ` (${noRedis})` : ''}`, () => {
  let redis: TestRedis
  let fleet: CrawlFleet
  let site: Site
  /** Paths whose responses are held back. */
  const slow = new Set<string>()
  const held = new Map<string, (() => void)[]>()
  let alone: CrawlAnswer
  const input = () => ({ url: `${site.url}/p/0`, limit: 1000, max_depth: 20 })

  /** Answers the requests that were held back; those of killed workers get nobody's attention. */
  const release = (path?: string) => {
    slow.clear()
    for (const [name, answers] of held)
      if (path === undefined || name === path) for (const answer of answers.splice(0)) answer()
  }
  const isHeld = (path: string, times = 1) => waitUntil(() => (held.get(path)?.length ?? 0) >= times)

  beforeAll(async () => {
    redis = await startRedis()
    fleet = await openCrawlFleet(redis, { timing: shortLocks })
    // A tree: each page links to two further ones, and back to the first.
    const paths = Array.from({ length: pages }, (_, at) => `/p/${at}`)
    site = await serveSite(
      Object.fromEntries(
        paths.map((path, at) => [
          path,
          (_, response) => {
            const answer = () =>
              void response
                .setHeader('content-type', 'text/html')
                .end(linkPage(path, ['/p/0', ...paths.slice(2 * at + 1, 2 * at + 3)]))
            if (slow.has(path)) held.set(path, [...(held.get(path) ?? []), answer])
            else answer()
          },
        ]),
      ),
    )
    alone = await fleet.crawlAlone(input())
    expect(alone.completed).toBe(pages)
  })
  afterEach(async () => {
    release()
    held.clear()
    await fleet.removeWorkers()
    await fleet.expectNothingLeft()
  })
  afterAll(async () => {
    await fleet.close()
    await site.close()
    await redis.close()
  })

  const expectWhole = async (id: string) => {
    const { warning: _, ...state } = await fleet.ended(id)
    expect(state).toMatchObject({ status: 'completed', completed: pages, total: pages })
    expect(state.data).toEqual(alone.data)
  }

  test('a page whose worker was killed is visited by another one', async () => {
    slow.add('/p/20')
    const killed = await fleet.addProcess()
    // The process coordinates too; a worker here takes over both.
    const id = await fleet.start(input())
    await isHeld('/p/20')
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    await fleet.addWorkers(1)
    await isHeld('/p/20', 2)
    release()
    await expectWhole(id)
    // Pages that were visited before the crash are not requested again.
    const requests = site.requests.filter((path) => path === '/p/20')
    expect(requests.length).toBeGreaterThanOrEqual(2)
  })

  test('a coordinator that was killed is replaced, and visits under way are taken over', async () => {
    const coordinator = await fleet.addProcess()
    slow.add('/p/59')
    const id = await fleet.start(input())
    await isHeld('/p/59')
    // All others are stored: the killed process visits no other page.
    await waitUntil(async () => (await fleet.whole(id)).completed === pages - 1)
    const before = site.requests.length
    const [worker] = await fleet.addWorkers(1)
    coordinator.kill('SIGKILL')
    await once(coordinator, 'exit')
    await waitUntil(() => worker!.coordinating === 1)
    await isHeld('/p/59', 2)
    release()
    await expectWhole(id)
    // Again, if its lock expired on a busy machine.
    const requested = site.requests.slice(before).filter((path) => path.startsWith('/p/'))
    expect([...new Set(requested)]).toEqual(['/p/59'])
  })

  test('Redis that was killed and restarted loses nothing', async () => {
    await fleet.addWorkers(2)
    slow.add('/p/25')
    const id = await fleet.start(input())
    await isHeld('/p/25')
    await redis.kill()
    release()
    await redis.start()
    await expectWhole(id)
  })

  test('a result that a stalled worker delivers late is discarded', async () => {
    const stalled = await fleet.addProcess()
    slow.add('/p/0')
    const id = await fleet.start(input())
    await isHeld('/p/0')
    // The stopped process keeps its connections, and loses the locks of its crawl and of its page.
    stalled.kill('SIGSTOP')
    const [worker] = await fleet.addWorkers(1)
    await isHeld('/p/0', 2)
    await waitUntil(() => worker!.coordinating === 1)
    const [late, current] = held.get('/p/0')!.splice(0)
    slow.clear()
    current!()
    await waitUntil(async () => (await fleet.whole(id)).completed > 0)
    late!()
    stalled.kill('SIGCONT')
    await expectWhole(id)
    stalled.kill('SIGKILL')
    await once(stalled, 'exit')
  })

  test('two crawls at once share the workers', async () => {
    await fleet.addWorkers(2)
    const ids = await Promise.all([fleet.start(input()), fleet.start(input())])
    for (const id of ids) await expectWhole(id)
  })

  test('cancelling stops the crawl on its worker, and keeps its pages', async () => {
    await fleet.addWorkers(1)
    slow.add('/p/20')
    const id = await fleet.start(input())
    await isHeld('/p/20')
    expect(await fleet.crawls.cancel(id, callOf())).toBe('cancelled')
    const state = await fleet.whole(id)
    expect(state).toMatchObject({ status: 'cancelled' })
    expect(state.data).toEqual(alone.data.slice(0, state.completed))
    release()
    await fleet.crawls.resume(id, callOf())
    await expectWhole(id)
  })

  test('a crawl that no worker has taken yet can be cancelled', async () => {
    const id = await fleet.start(input())
    expect(await fleet.crawls.cancel(id, callOf())).toBe('cancelled')
    expect(await fleet.whole(id)).toMatchObject({ status: 'cancelled', completed: 0, success: false })
    await expect(fleet.crawls.cancel(id, callOf())).resolves.toBe('cancelled')
  })

  test('a crawl whose build has no workers can be cancelled, and continues on another build', async () => {
    const other = await openCrawlFleet(redis, { gatewayBuild: 'other' })
    try {
      const [cancelled, id] = [await other.start(input()), await other.start(input())]
      expect(await fleet.crawls.cancel(cancelled, callOf())).toBe('cancelled')
      await fleet.addWorkers(1)
      await expectWhole(id)
      // The gateway of the other build follows it too.
      expect((await other.whole(id)).data).toEqual(alone.data)
      await waitUntil(async () => !(await redis.client.sismember(buildsKey, 'other')))
    } finally {
      await other.close()
    }
  })

  test('a draining worker finishes its pages and hands its crawls over', async () => {
    const [first] = await fleet.addWorkers(1)
    slow.add('/p/20')
    const id = await fleet.start(input())
    await isHeld('/p/20')
    const drained = first!.drain()
    await waitUntil(() => first!.coordinating === 0)
    await fleet.addWorkers(1)
    release()
    await drained
    await expectWhole(id)
  })

  test('events are followed from another process, and the stream ends with the crawl', async () => {
    await fleet.addProcess().then(async (worker) => {
      slow.add('/p/10')
      const id = await fleet.start(input())
      await isHeld('/p/10')
      const frames: Frame[] = []
      const stream = await fleet.crawls.follow({ id, since: 0 }, { ...callOf(), since: undefined } as never)
      for await (const frame of stream!) {
        frames.push(frame)
        if (frame.type === 'crawl.progress') release()
      }
      expect(frames.at(-1)).toMatchObject({ type: 'crawl.finished', data: { status: 'completed', completed: pages } })
      expect(frames.filter(({ type }) => type === 'crawl.page')).toHaveLength(pages)
      const stored = frames.filter(({ type }) => type !== 'crawl.progress').map(({ seq }) => seq)
      expect(stored).toEqual(stored.map((_, at) => at + 1))
      worker.send('end')
      await once(worker, 'exit')
    })
  })

  test('the quota of a key counts its crawls on all gateways', async () => {
    const none = { rate: 0, burst: 0, sessions: 0, shells: 0, relays: 0, credentials: 0 }
    const allowances = { keyed: { ...none, crawls: 1 }, keyless: { ...none, crawls: 1 } }
    const limited = await openCrawlFleet(redis, { allowances })
    try {
      const id = await limited.start(input())
      await expect(limited.start(input())).rejects.toMatchObject({ code: 'rate_limited' })
      await limited.crawls.cancel(id, callOf())
      const next = await limited.start(input())
      await limited.crawls.cancel(next, callOf())
    } finally {
      await limited.close()
    }
  })

  test('the limit of all callers grows with the workers', async () => {
    let workers = 0
    const limited = await openCrawlFleet(redis, { allowances: allowancesOf({ crawls: 0 }), workerCount: () => workers })
    const started: string[] = []
    const startUntilFull = async () => {
      for (;;) started.push(await limited.start(input()))
    }
    try {
      await expect(startUntilFull()).rejects.toMatchObject({ code: 'no_capacity' })
      expect(started).toHaveLength(limits.overload.crawls)
      workers = 2
      await expect(startUntilFull()).rejects.toMatchObject({ code: 'no_capacity' })
      expect(started).toHaveLength(2 * limits.overload.crawls)
    } finally {
      for (const id of started) await limited.crawls.cancel(id, callOf())
      await limited.close()
    }
  })

  test('a whole crawl is returned to a caller that waits, and cancelled when the caller leaves', async () => {
    await fleet.addWorkers(1)
    const answer = await fleet.crawl(input())
    expect(comparable(answer)).toEqual(comparable(alone))
    slow.add('/p/20')
    const leaving = new AbortController()
    const call = callOf(undefined, leaving.signal)
    const { crawlInput } = await import('../../src/core/shapes/crawl.ts')
    const waiting = fleet.crawls.crawl(crawlInput.parse(input()), call)
    await isHeld('/p/20')
    leaving.abort()
    expect(await waiting).toMatchObject({ status: 'cancelled' })
  })
})
