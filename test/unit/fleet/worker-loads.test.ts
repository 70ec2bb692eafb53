import { describe, expect, test, vi } from 'vitest'
import type { RunScript } from '../../../src/fleet/directory/scripts/run.ts'
import { WorkerLoads } from '../../../src/fleet/directory/worker-loads.ts'

const anyOne: ReadonlySet<string> = new Set()
const minute = 60_000

type Facts = { readonly busy?: number; readonly pages?: number }

/** Answers for Redis with these workers, which tests can change. */
function workersOf(facts: Record<string, Facts>) {
  const run = vi.fn(async () =>
    Object.entries(facts).map(([id, { busy = 0, pages = 4 }]) => [id, String(busy), `http://${id}`, String(pages)]),
  )
  return { facts, run: run as unknown as RunScript, asked: run }
}

describe('the choice of a worker', () => {
  test('asks Redis once while the loads are fresh', async () => {
    const { run, asked } = workersOf({ one: {}, two: {} })
    const loads = new WorkerLoads(run, 'b', minute)
    const chosen = [await loads.choose('render', anyOne), await loads.choose('render', anyOne)]
    expect(chosen.map((one) => one?.worker)).toEqual([
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
    expect(await loads.choose('render', new Set(['one']))).toMatchObject({ worker: { id: 'two' } })
    delete facts['one']
    delete facts['two']
    expect(await loads.choose('render', new Set(['one', 'two']))).toBeUndefined()
    facts['three'] = {}
    expect(await loads.choose('render', anyOne)).toMatchObject({ worker: { id: 'three' } })
    expect(asked).toHaveBeenCalledTimes(4)
  })

  test('counts requests until they end, beside what the last heartbeat has reported', async () => {
    const { facts, run } = workersOf({ one: { pages: 1 }, two: { pages: 2 } })
    const loads = new WorkerLoads(run, 'b', 0)
    const next = async () => (await loads.choose('render', anyOne))!
    const running = [await next(), await next(), await next()]
    expect(running.map(({ worker }) => worker.id)).toEqual(['one', 'two', 'two'])
    running[0]!.done()
    const fourth = await next()
    expect(fourth.worker.id).toBe('one')
    facts['two'] = { pages: 2, busy: 1 }
    for (const { done } of [...running.slice(1), fourth]) done()
    expect((await next()).worker.id).toBe('one')
  })

  test('takes turns among workers with the same load', async () => {
    const { run } = workersOf({ one: {}, two: {}, three: {} })
    const loads = new WorkerLoads(run, 'b', minute)
    const chosen: string[] = []
    for (let at = 0; at < 4; at++) {
      const { worker, done } = (await loads.choose('render', anyOne))!
      chosen.push(worker.id)
      done()
    }
    expect(chosen).toEqual(['one', 'two', 'three', 'one'])
  })

  test('gives equal affinities the same worker while fewer requests run there than it has slots', async () => {
    const { run } = workersOf({ one: { pages: 2 }, two: { pages: 2 } })
    const loads = new WorkerLoads(run, 'b', minute)
    const next = async () => (await loads.choose('render', anyOne, 'https://example.com/'))!
    const first = await next()
    expect((await next()).worker.id).toBe(first.worker.id)
    expect((await next()).worker.id).not.toBe(first.worker.id)
    first.done()
    expect((await next()).worker.id).toBe(first.worker.id)
  })

  test('fails when the loads are too old and Redis does not answer', async () => {
    const run = vi.fn<() => Promise<unknown>>(async () => [['one', '0', 'http://one', '4']])
    const loads = new WorkerLoads(run as unknown as RunScript, 'b', 0)
    await loads.choose('render', anyOne)
    run.mockRejectedValue(new Error('away'))
    await expect(loads.choose('render', anyOne)).rejects.toThrow('away')
  })
})
