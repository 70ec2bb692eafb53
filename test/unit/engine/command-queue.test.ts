import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { CommandQueue } from '../../../src/engine/browser/session/command-queue.ts'

const live = () => new AbortController().signal

/** Returns work that lasts until `open` is called. */
function gate() {
  let open!: () => void
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, work: () => passed }
}

describe('command queue of a session', () => {
  test('runs one batch at a time in the order of the calls, also after a failure', async () => {
    const turns = new CommandQueue()
    const seen: number[] = []
    const first = gate()
    const all = [
      turns.run(async () => {
        await first.work()
        seen.push(1)
      }, live()),
      turns.run(() => Promise.reject(new Error('second')), live()),
      turns.run(async () => void seen.push(3), live()),
    ]
    expect(seen).toEqual([])
    first.open()
    const outcomes = await Promise.allSettled(all)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(seen).toEqual([1, 3])
  })

  test('keeps the order of the others when a waiting caller aborts', async () => {
    const turns = new CommandQueue()
    const first = gate()
    const gone = new AbortController()
    const seen: string[] = []
    const running = turns.run(first.work, live())
    const quitter = turns.run(async () => void seen.push('quitter'), gone.signal)
    const last = turns.run(async () => void seen.push('last'), live())
    gone.abort(new Error('left'))
    await expect(quitter).rejects.toThrow('left')
    first.open()
    await Promise.all([running, last])
    expect(seen).toEqual(['last'])
  })

  test('rejects a call when the queue is full', async () => {
    const turns = new CommandQueue()
    const first = gate()
    const waiting = Array.from({ length: limits.command.queue + 1 }, () => turns.run(first.work, live()))
    await expect(turns.run(first.work, live())).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
    first.open()
    await Promise.all(waiting)
    await expect(turns.run(async () => 'free again', live())).resolves.toBe('free again')
  })
})
