import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { FairQueue } from '../../../src/core/process/fair-queue.ts'
import { Turns } from '../../../src/core/process/turns.ts'

describe('turns', () => {
  const filled = () => {
    const turns = new Turns<string>()
    for (const item of ['a1', 'a2', 'a3']) turns.add(item, 'a')
    for (const item of ['b1', 'b2']) turns.add(item, 'b')
    return turns
  }

  test('alternate between origins, and keep the order of each', () => {
    const turns = filled()
    expect(turns.take()).toBe('a1')
    turns.add('c1', 'c')
    expect([1, 2, 3, 4, 5, 6].map(() => turns.take())).toEqual(['b1', 'c1', 'a2', 'b2', 'a3', undefined])
    expect(turns.size).toBe(0)
  })

  test('report the position of an item', () => {
    const turns = filled()
    expect(['a1', 'b1', 'a2', 'b2', 'a3', 'x'].map((item) => turns.positionOf(item))).toEqual([0, 1, 2, 3, 4, -1])
    turns.take()
    expect(['b1', 'a2', 'b2', 'a3'].map((item) => turns.positionOf(item))).toEqual([0, 1, 2, 3])
  })

  test('skip origins that may have no more', () => {
    const turns = filled()
    const withoutA = (from: string | null) => from !== 'a'
    expect([1, 2, 3].map(() => turns.take(withoutA))).toEqual(['b1', 'b2', undefined])
    expect([turns.has(withoutA), turns.has(() => true), turns.size]).toEqual([false, true, 3])
  })

  test('lose an item that is removed, and begin with one that is put back', () => {
    const turns = filled()
    expect([turns.remove('a1'), turns.remove('a1'), turns.size]).toEqual([true, false, 4])
    turns.putBack('a0', 'a')
    expect(turns.take()).toBe('a0')
    expect(turns.clear()).toEqual(['a2', 'a3', 'b1', 'b2'])
    expect(turns.take()).toBeUndefined()
  })
})

describe('a fair queue', () => {
  /** Work that ends when the test says so, by name. */
  function held(queue: FairQueue) {
    const started: string[] = []
    const ends = new Map<string, () => void>()
    const run = (name: string, from: string | null, signal?: AbortSignal) =>
      queue.run(
        () => {
          started.push(name)
          return new Promise<void>((resolve) => ends.set(name, resolve))
        },
        { from, ...(signal && { signal }) },
      )
    return { started, run, end: (name: string) => ends.get(name)!() }
  }

  test('gives everything to one key, and has further slots for others', async () => {
    const queue = new FairQueue({ atOnce: 3, reserve: 2 })
    const { started, run, end } = held(queue)
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name, 'a'))
    await turn()
    expect([started, queue.waiting]).toEqual([['a1', 'a2', 'a3'], 1])
    all.push(...['b1', 'b2', 'b3'].map((name) => run(name, 'b')), run('engine', null))
    await turn()
    expect([started.slice(3), queue.waiting, queue.running]).toEqual([['b1', 'b2'], 3, 5])
    end('b1')
    await all[4]
    await turn()
    // A slot of the reserve, which the key with all others cannot have.
    expect(started.at(-1)).toBe('engine')
    for (const name of ['a1', 'a2', 'a3']) end(name)
    await Promise.all(all.slice(0, 3))
    await turn()
    expect(started.slice(-2).toSorted()).toEqual(['a4', 'b3'])
    for (const name of ['b2', 'engine', 'a4', 'b3']) end(name)
    await Promise.all(all)
    expect([queue.waiting, queue.running]).toEqual([0, 0])
  })

  test('frees the slot of work that fails, and forgets work whose caller leaves', async () => {
    const queue = new FairQueue({ atOnce: 1, reserve: 0 })
    const { started, run, end } = held(queue)
    await expect(queue.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    const first = run('first', 'a')
    const leaving = new AbortController()
    const second = run('second', 'b', leaving.signal)
    leaving.abort(new Error('left'))
    await expect(second).rejects.toThrow('left')
    await expect(run('third', 'b', leaving.signal)).rejects.toThrow('left')
    end('first')
    await first
    expect([started, queue.running, queue.waiting]).toEqual([['first'], 0, 0])
  })

  test('rejects what waits when it is closed', async () => {
    const queue = new FairQueue({ atOnce: 1, reserve: 0 })
    const { run, end } = held(queue)
    const first = run('first', 'a')
    const second = run('second', 'a')
    queue.close()
    await expect(second).rejects.toMatchObject({ code: 'shutting_down' })
    end('first')
    await first
  })
})
