/** Tests how many pages a browser keeps ready for sessions. */
import { EventEmitter } from 'node:events'
import type { Page } from 'playwright'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { WarmContexts } from '../../../src/engine/browser/pool/warm-contexts.ts'

class Context {
  readonly events = new EventEmitter()
  readonly page = Promise.resolve(this.events as unknown as Page)
  closed = false
  async close(): Promise<void> {
    this.closed = true
  }
}

/** Returns warm contexts, and those that were opened for them; `make` may fail. */
function startWarm(make = async () => new Context()) {
  const made: Context[] = []
  const errors: string[] = []
  const warm = new WarmContexts<Context>({
    make: async () => {
      const context = await make()
      made.push(context)
      return context
    },
    isEnding: () => false,
    onError: (what, error) => void errors.push(`${what}: ${error.message}`),
    freeBytes: () => limits.pool.warmFreeBytes,
  })
  return { warm, made, errors }
}

const enough = 100

test('the wanted number is kept ready, and no more than there are slots', async () => {
  const { warm, made } = startWarm()
  warm.keep(3, enough)
  await expect.poll(() => warm.count).toBe(3)
  warm.keep(3, 1)
  await expect.poll(() => warm.count).toBe(1)
  expect(made.filter(({ closed }) => closed)).toHaveLength(2)
})

test('no context is opened while sessions are created in a row', async () => {
  const { warm, made } = startWarm()
  for (let created = 0; created < 20; created++) {
    expect(warm.take()).toBeUndefined()
    warm.keep(1, enough)
  }
  expect(made).toHaveLength(0)
  await expect.poll(() => warm.count).toBe(limits.pool.warmMax)
})

describe('while sessions are created at short intervals', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Creates sessions; returns whether each found a ready page. Those that find none use their page, or are closed. */
  async function createInTurn(warm: WarmContexts<Context>, count: number, isUsed: boolean): Promise<boolean[]> {
    const found: boolean[] = []
    for (let created = 0; created < count; created++) {
      const isReady = warm.take() !== undefined
      warm.keep(1, enough)
      if (!isReady) warm.missed(isUsed)
      await vi.advanceTimersByTimeAsync(0.75 * limits.pool.warmDelayMs)
      found.push(isReady)
    }
    return found
  }

  test('more are kept, up to a limit', async () => {
    const { warm } = startWarm()
    warm.keep(1, enough)
    for (const wanted of [1, 1, 2, 4, limits.pool.warmMax, limits.pool.warmMax]) {
      await vi.advanceTimersByTimeAsync(limits.pool.warmDelayMs)
      await expect.poll(() => warm.count).toBe(wanted)
      for (let taken = 0; taken < wanted; taken++) expect(warm.take()).toBeInstanceOf(Context)
      warm.keep(1, enough)
    }
  })

  test('contexts are opened if sessions wait for pages', async () => {
    const { warm } = startWarm()
    const found = await createInTurn(warm, 100, true)
    expect(found.filter(Boolean).length).toBeGreaterThan(75)
  })

  test('no context is opened if sessions are closed before their page opens', async () => {
    const { warm, made } = startWarm()
    await createInTurn(warm, 20, false)
    expect(made).toHaveLength(0)
    await createInTurn(warm, 20, true)
    const found = await createInTurn(warm, 40, false)
    expect(found.slice(20)).toEqual(Array(20).fill(false))
  })
})

test('a failure to open one is reported, and the session opens its own', async () => {
  const { warm, errors } = startWarm(() => Promise.reject(new Error('no memory')))
  warm.keep(1, enough)
  await expect.poll(() => errors).toEqual(['open: no memory'])
  expect(warm.take()).toBeUndefined()
})

test('a context whose page has crashed is closed and not given away', async () => {
  const { warm, made } = startWarm()
  warm.keep(1, enough)
  await expect.poll(() => warm.count).toBe(1)
  made[0]!.events.emit('crash')
  expect([warm.count, made[0]!.closed]).toEqual([0, true])
  expect(warm.take()).toBeUndefined()
})
