/** Rate limits and quotas of callers, with a fake clock. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Frame, StreamCall } from '../../../src/core/operation/call.ts'
import { type Allowance, allowancesOf, Quota } from '../../../src/core/access/quota.ts'
import { type Caller, keylessCaller, keyScopes, anonymousCaller } from '../../../src/core/access/caller.ts'
import type { Engine } from '../../../src/core/engine.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { keyPrefix, type KeyRing } from '../../../src/core/access/keys.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { createApp } from '../../../src/server/app.ts'
import { BodyMemory } from '../../../src/server/access/load.ts'
import { RateLimiter } from '../../../src/core/access/rate-limiter.ts'

const holder = (keyId: string): Caller => ({ keyId, name: keyId, scopes: keyScopes, admin: false })
const [ann, ben] = [holder('ann'), holder('ben')]

describe('a token bucket', () => {
  function bucket(wishes: Partial<Allowance> = {}) {
    let now = 0
    const rates = new RateLimiter(allowancesOf(wishes), () => now)
    return { count: (caller = ann) => rates.count(caller), later: (ms: number) => (now += ms) }
  }

  test('allows a burst, and then as many requests as the rate allows', () => {
    const { count, later } = bucket()
    const burst = Array.from({ length: limits.caller.burst }, () => count()!)
    expect(burst.every(({ allowed }) => allowed)).toBe(true)
    expect(burst.map(({ remaining }) => remaining)).toEqual(burst.map((_, at) => limits.caller.burst - 1 - at))
    expect(count()).toMatchObject({ allowed: false, remaining: 0, retrySecs: 1, resetSecs: 5 })
    later(1000)
    const second = Array.from({ length: 11 }, () => count()!.allowed)
    expect(second).toEqual([...Array(limits.caller.rate).fill(true), false])
  })

  test('never exceeds the burst, and does not count rejected requests', () => {
    const { count, later } = bucket({ rate: 1, burst: 2 })
    later(3_600_000)
    expect([count(), count(), count(), count()].map((one) => one!.allowed)).toEqual([true, true, false, false])
    later(999)
    expect(count()).toMatchObject({ allowed: false, retrySecs: 1 })
    later(1)
    expect(count()!.allowed).toBe(true)
  })

  test('reports the exact time to wait', () => {
    const { count, later } = bucket({ rate: 1, burst: 1 })
    count()
    const { retrySecs } = count()!
    later(retrySecs * 1000)
    expect(count()!.allowed).toBe(true)
  })

  test('is separate for each key', () => {
    const { count } = bucket({ rate: 1, burst: 1 })
    expect([count(ann), count(ann), count(ben)].map((one) => one!.allowed)).toEqual([true, false, true])
  })

  test('is off without keys unless the operator sets a rate', () => {
    expect(bucket().count(keylessCaller)).toBeUndefined()
    expect(bucket({ rate: 0 }).count(ann)).toBeUndefined()
    const wished = bucket({ rate: 2 })
    expect(wished.count(keylessCaller)).toMatchObject({ burst: 10, remaining: 9 })
    // Callers without a key reach public operations only: they cannot use up the limits of others.
    expect(wished.count(anonymousCaller)).toBeUndefined()
  })
})

describe('a quota', () => {
  const quota = (most: number) => new Quota('crawls', allowancesOf({ crawls: most }))

  test('is separate for each key', () => {
    const crawls = quota(2)
    const giveBack = crawls.take(ann)
    crawls.take(ann)
    expect(() => crawls.take(ann)).toThrow(
      expect.objectContaining({ code: 'rate_limited', details: { limit: 'crawls', most: 2 } }),
    )
    crawls.take(ben)
    giveBack()
    giveBack()
    crawls.take(ann)
    expect(() => crawls.take(ann)).toThrow(BaxError)
    expect(crawls.total).toBe(3)
  })

  test('of 0 is unlimited, up to the capacity of the server', () => {
    const crawls = quota(0)
    for (let at = 0; at < limits.overload.crawls; at++) crawls.take(holder(`key${at % 3}`))
    expect(() => crawls.take(ann)).toThrow(expect.objectContaining({ code: 'no_capacity', retryAfterSecs: 2 }))
  })

  test('does not apply to local engines', () => {
    const crawls = new Quota('crawls', undefined)
    for (let at = 0; at < 100; at++) crawls.take(keylessCaller)
    expect(crawls.total).toBe(100)
  })
})

const ring = { required: () => true, check: () => {}, callerOf: (key: string) => holder(key) } as unknown as KeyRing

describe('a server with keys', () => {
  const engine = { crawls: {}, sessions: { list: async () => [] } } as unknown as Engine
  const app = createApp({
    engine,
    gate: { hosts: null, origins: new Set(), keys: ring },
    rates: new RateLimiter(allowancesOf({ rate: 1, burst: 2 })),
  })
  beforeAll(() => void vi.spyOn(performance, 'now').mockReturnValue(0))
  afterAll(() => void vi.restoreAllMocks())
  const list = (key: string) => app.request('/sessions', { headers: { 'x-api-key': key } })
  const told = ({ headers }: Response) =>
    ['limit', 'remaining', 'reset', 'policy'].map((name) => headers.get(`ratelimit-${name}`))

  test('sends rate-limit headers, and rejects excess requests with the time to wait', async () => {
    const first = await list('cid')
    expect([first.status, ...told(first)]).toEqual([200, '2', '1', '1', '2;w=2'])
    const second = await list('cid')
    expect([second.status, ...told(second)]).toEqual([200, '2', '0', '2', '2;w=2'])
    const third = await list('cid')
    expect([third.status, third.headers.get('retry-after'), ...told(third)]).toEqual([429, '1', '2', '0', '2', '2;w=2'])
    expect(await third.json()).toMatchObject({ success: false, code: 'rate_limited', request_id: expect.any(String) })
    expect((await list('dora')).status).toBe(200)
  })

  test('sends them with errors too', async () => {
    const missing = await app.request('/nowhere', { headers: { 'x-api-key': 'eve' } })
    expect([missing.status, told(missing)[1]]).toEqual([404, '1'])
  })

  test('does not count public requests', async () => {
    for (let at = 0; at < 5; at++) {
      const answer = await app.request('/healthz')
      expect([answer.status, told(answer)[0]]).toEqual([200, null])
    }
  })
})

describe('a server at capacity', () => {
  const body = JSON.stringify({ url: 'https://example.com' })
  const scrape = (app: ReturnType<typeof createApp>) =>
    app.request('/v1/scrape', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const open = { hosts: null, origins: new Set<string>(), keys: null }

  test('rejects further work with the time to wait, and finishes accepted work', async () => {
    let finish!: () => void
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const engine = { extractor: { scrape: () => finished.then(() => ({ success: true })) } } as unknown as Engine
    const app = createApp({ engine, gate: open, rates: new RateLimiter(allowancesOf({})) })
    const accepted = Array.from({ length: limits.overload.pages }, () => scrape(app))
    const refused = await Promise.all(Array.from({ length: 2 * limits.overload.pages }, () => scrape(app)))
    expect(new Set(refused.map(({ status, headers }) => `${status} ${headers.get('retry-after')}`))).toEqual(
      new Set(['503 2']),
    )
    finish()
    expect((await Promise.all(accepted)).every(({ status }) => status === 200)).toBe(true)
    expect((await scrape(app)).status).toBe(200)
  })

  const refusal = (answer: Response) =>
    answer.json().then((said) => [answer.status, (said as { code: string }).code, answer.headers.get('retry-after')])
  const keyed = (engine: object) =>
    createApp({
      engine: { keys: { whenLost: () => {} }, ...engine } as unknown as Engine,
      gate: { hosts: null, origins: new Set(), keys: ring },
      rates: new RateLimiter(allowancesOf({ rate: 0 })),
    })

  test('gives one key at most half of the slots', async () => {
    let finish!: () => void
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const app = keyed({ extractor: { scrape: () => finished.then(() => ({ success: true })) } })
    const as = (key: string) =>
      app.request('/v1/scrape', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body,
      })
    const half = limits.overload.pages / 2
    const accepted = Array.from({ length: half }, () => as('ann'))
    expect(await refusal(await as('ann'))).toEqual([429, 'rate_limited', '2'])
    accepted.push(...Array.from({ length: half }, () => as('ben')))
    expect(await refusal(await as('cid'))).toEqual([503, 'no_capacity', '2'])
    finish()
    expect((await Promise.all(accepted)).every(({ status }) => status === 200)).toBe(true)
    expect((await as('ann')).status).toBe(200)
  })

  test('gives one key at most half of the memory for bodies', () => {
    const room = new BodyMemory(100)
    const anns = room.open(ann)
    anns.add(30)
    room.open(ann).add(20)
    expect(() => room.open(ann).add(1)).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSecs: 2 }))
    room.open(ben).add(50)
    expect(() => room.open(holder('cid')).add(1)).toThrow(expect.objectContaining({ code: 'no_capacity' }))
    anns.close()
    anns.close()
    room.open(ann).add(30)
    expect(() => room.open(ann).add(1)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    // Without keys, one caller may use all of it; on a server with keys, callers without one share a part.
    new BodyMemory(100).open(keylessCaller).add(100)
    expect(() => new BodyMemory(100).open(anonymousCaller).add(51)).toThrow(
      expect.objectContaining({ code: 'rate_limited' }),
    )
  })

  test('limits the open streams of a key and of a token', async () => {
    const ends: (() => void)[] = []
    async function* frames(signal: AbortSignal): AsyncGenerator<Frame> {
      await new Promise<void>((resolve) => {
        ends.push(resolve)
        signal.addEventListener('abort', () => resolve())
      })
      yield* []
    }
    const follow = async (_: unknown, { signal }: StreamCall) => frames(signal)
    const app = keyed({ sessions: { follow } })
    const open = (headers: Record<string, string>, token?: string) =>
      app.request(`/stream/sse?session_id=ses_1${token === undefined ? '' : `&token=${token}`}`, { headers })
    const { ofKey, ofToken } = limits.openEnds
    const asAnn = () => open({ 'x-api-key': `${keyPrefix}ann` })
    const anns = await Promise.all(Array.from({ length: ofKey }, asAnn))
    expect(anns.every(({ status }) => status === 200)).toBe(true)
    expect(await refusal(await asAnn())).toEqual([429, 'rate_limited', '2'])
    // A reader that disconnects and frames that end both release the slot.
    await anns[0]!.body!.cancel()
    expect([(await asAnn()).status, (await asAnn()).status]).toEqual([200, 429])
    const reader = anns[1]!.body!.getReader()
    await reader.read()
    const last = reader.read()
    ends.forEach((end) => end())
    expect((await last).done).toBe(true)
    expect([(await asAnn()).status, (await asAnn()).status]).toEqual([200, 429])
    const guests = await Promise.all(Array.from({ length: ofToken }, () => open({}, 'ft_1')))
    expect(guests.every(({ status }) => status === 200)).toBe(true)
    expect(await refusal(await open({}, 'ft_1'))).toEqual([429, 'rate_limited', '2'])
    expect((await open({}, 'ft_2')).status).toBe(200)
  })
})
