import { describe, expect, test, vi } from 'vitest'
import type { RunScript } from '../../../src/fleet/directory/scripts/run.ts'
import { WorkerLoads } from '../../../src/fleet/directory/worker-loads.ts'

const anyOne: ReadonlySet<string> = new Set()
const minute = 60_000

type Facts = { readonly busy?: number; readonly pages?: number; readonly seen?: string }

/** What Redis answers, which tests change. */
function workersOf(facts: Record<string, Facts>) {
  const run = vi.fn(
    async () =>
    Object.entries(facts).map(([id, { busy = 0, pages = 4, seen = '1' }]) => [id, String(busy), `http://${id}`, String(pages), seen]), // prettier-ignore
  )
  return { facts, run: run as unknown as RunScript, asked: run }
}

describe('the choice of a worker', () => {
  test('asks Redis once while the loads are fresh', async () => {
    const { run, asked } = workersOf({ one: {}, two: {} })
    const loads = new WorkerLoads(run, 'b', minute)
    const chosen = [await loads.choose('render', anyOne), await loads.choose('render', anyOne)]
    expect(chosen).toEqual([
      { id: 'one', url: 'http://one' },
      { id: 'two', url: 'http://two' },
    ])
    expect(asked).toHaveBeenCalledOnce()
  })

  test('asks once for requests that arrive together', async () => {
    const { run, asked } = workersOf({ one: {} })
    const loads = new WorkerLoads(run, 'b', minute)
    await Promise.all([loads.choose('render', anyOne), loads.choose('render', anyOne)])
    expect(asked).toHaveBeenCalledOnce()
  })

  test('asks again for a request whose worker has failed, or that none can serve', async () => {
    const { facts, run, asked } = workersOf({ one: {} })
    const loads = new WorkerLoads(run, 'b', minute)
    await loads.choose('render', anyOne)
    facts['two'] = {}
    expect(await loads.choose('render', new Set(['one']))).toMatchObject({ id: 'two' })
    delete facts['one']
    delete facts['two']
    expect(await loads.choose('render', new Set(['one', 'two']))).toBeUndefined()
    facts['three'] = {}
    expect(await loads.choose('render', anyOne)).toMatchObject({ id: 'three' })
    expect(asked).toHaveBeenCalledTimes(4)
  })

  test('counts the pages that it gives to a worker until the next heartbeat of that worker', async () => {
    const { facts, run } = workersOf({ one: { pages: 1 }, two: { pages: 2 } })
    const loads = new WorkerLoads(run, 'b', 0)
    const next = async () => (await loads.choose('render', anyOne))!.id
    expect([await next(), await next(), await next(), await next()]).toEqual(['one', 'two', 'two', 'one'])
    facts['one'] = { pages: 1, busy: 0, seen: '2' }
    expect(await next()).toBe('one')
    facts['one'] = { pages: 1, busy: 3, seen: '3' }
    expect([await next(), await next()]).toEqual(['two', 'two'])
  })

  test('fails when the loads are too old and Redis does not answer', async () => {
    const run = vi.fn<() => Promise<unknown>>(async () => [['one', '0', 'http://one', '4', '1']])
    const loads = new WorkerLoads(run as unknown as RunScript, 'b', 0)
    await loads.choose('render', anyOne)
    run.mockRejectedValue(new Error('away'))
    await expect(loads.choose('render', anyOne)).rejects.toThrow('away')
  })
})
