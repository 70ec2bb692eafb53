import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HostGate } from '../../../../src/engine/crawl/pacing/host-gate.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = new AbortController().signal

/** Requests slots; `inside` grows as they are granted. */
function ask(gate: HostGate, count: number, signal = never) {
  const inside: (() => void)[] = []
  const refused: Error[] = []
  for (let at = 0; at < count; at++)
    gate.enter(signal).then(
      (leave) => inside.push(leave),
      (error: Error) => refused.push(error),
    )
  return { inside, refused }
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('limits concurrent requests', async () => {
  const gate = new HostGate(2)
  const { inside } = ask(gate, 3)
  await pass(0)
  expect(inside).toHaveLength(2)
  inside[0]!()
  inside[0]!()
  await pass(0)
  expect(inside).toHaveLength(3)
})

test('a delay allows one request at a time, spaced out', async () => {
  const gate = new HostGate(8)
  gate.setDelay(1000)
  const { inside } = ask(gate, 3)
  await pass(0)
  expect(inside).toHaveLength(1)
  inside[0]!()
  await pass(999)
  expect(inside).toHaveLength(1)
  await pass(1)
  expect(inside).toHaveLength(2)
})

test('an aborted waiter does not use a slot', async () => {
  const gate = new HostGate(1)
  const leaving = new AbortController()
  const { inside } = ask(gate, 1)
  await pass(0)
  const { refused } = ask(gate, 1, leaving.signal)
  const last = ask(gate, 1)
  leaving.abort(new Error('gone'))
  await pass(0)
  expect(refused[0]!.message).toBe('gone')
  inside[0]!()
  await pass(0)
  expect(last.inside).toHaveLength(1)
  await expect(gate.enter(leaving.signal)).rejects.toThrow('gone')
})

describe('a host that rejects requests', () => {
  test('gets no requests for the time in Retry-After', async () => {
    const gate = new HostGate(4)
    expect(gate.refused('busy', 5000)).toBe(true)
    const { inside } = ask(gate, 1)
    await pass(4999)
    expect(inside).toHaveLength(0)
    await pass(1)
    expect(inside).toHaveLength(1)
  })

  test('without Retry-After gets exponentially longer pauses, up to a limit', async () => {
    const gate = new HostGate(4)
    const pauses: number[] = []
    while (gate.refused('busy')) {
      const start = performance.now()
      const turn = gate.enter(never)
      await vi.runOnlyPendingTimersAsync()
      ;(await turn)()
      pauses.push(Math.round((performance.now() - start) / 1000))
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32])
    await expect(gate.enter(never)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('concurrent rejections count once', () => {
    const gate = new HostGate(4)
    for (let at = 0; at < 50; at++) expect(gate.refused('busy', 1000)).toBe(true)
  })

  test('for hours is given up after a few rejections, but not after a single page', async () => {
    const gate = new HostGate(4)
    expect(gate.refused('busy', 3_600_000)).toBe(false)
    gate.succeeded()
    for (let at = 0; at < 4; at++) expect(gate.refused('busy', 3_600_000)).toBe(false)
    await expect(gate.enter(never)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('waiting requests are rejected when it is given up', async () => {
    const gate = new HostGate(1)
    const { inside } = ask(gate, 1)
    const { refused } = ask(gate, 2)
    await pass(0)
    expect(inside).toHaveLength(1)
    for (let at = 0; at < 4; at++) gate.refused('busy', 3_600_000)
    await pass(0)
    expect(refused).toHaveLength(2)
  })

  test('recovers after a successful request', async () => {
    const gate = new HostGate(4)
    for (let at = 0; at < 100; at++) {
      expect(gate.refused('busy', 100)).toBe(true)
      await pass(100)
      gate.succeeded()
    }
  })

  test('that is down gets pauses first, then each page is tried once', async () => {
    const gate = new HostGate(4)
    let pauses = 0
    for (; gate.refused('down'); pauses++) await vi.advanceTimersByTimeAsync(16_000)
    expect(pauses).toBe(5)
    expect(gate.refused('down')).toBe(false)
    const { inside } = ask(gate, 1)
    await pass(0)
    expect(inside).toHaveLength(1)
  })
})
