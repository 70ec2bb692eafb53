/** Tests how many pages a browser keeps ready for sessions. */
import { EventEmitter } from 'node:events'
import type { Page } from 'playwright'
import { expect, test } from 'vitest'
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

test('sessions that are created in a row make it keep more, up to a limit', async () => {
  const { warm } = startWarm()
  warm.keep(1, enough)
  for (const wanted of [1, 1, 2, 4, limits.pool.warmMax, limits.pool.warmMax]) {
    await expect.poll(() => warm.count).toBe(wanted)
    for (let taken = 0; taken < wanted; taken++) expect(warm.take()).toBeInstanceOf(Context)
    warm.keep(1, enough)
  }
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
