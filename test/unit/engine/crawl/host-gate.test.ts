import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HostGate } from '../../../../src/engine/crawl/pacing/host-gate.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = new AbortController().signal

/** Asks for a number of turns; `inside` grows as they come. */
function ask(gate: HostGate, count: number, signal = never) {
  const inside: (() => void)[] = []
  const refused: Error[] = []
  for (let at = 0; at < count; at++) gate.enter(signal).then((leave) => inside.push(leave), (error: Error) => refused.push(error)) // prettier-ignore
  return { inside, refused }
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('no more than so many are inside at a time', async () => {
  const gate = new HostGate(2)
  const { inside } = ask(gate, 3)
  await pass(0)
  expect(inside).toHaveLength(2)
  inside[0]!()
  inside[0]!()
  await pass(0)
  expect(inside).toHaveLength(3)
})

test('with a delay they come one at a time, so far apart', async () => {
  const gate = new HostGate(8)
  gate.spaceOut(1000)
  const { inside } = ask(gate, 3)
  await pass(0)
  expect(inside).toHaveLength(1)
  inside[0]!()
  await pass(999)
  expect(inside).toHaveLength(1)
  await pass(1)
  expect(inside).toHaveLength(2)
})

test('whoever gives up waiting takes nobody’s turn', async () => {
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

describe('a host that refuses', () => {
  test('is left alone for as long as it says', async () => {
    const gate = new HostGate(4)
    expect(gate.refused('busy', 5000)).toBe(true)
    const { inside } = ask(gate, 1)
    await pass(4999)
    expect(inside).toHaveLength(0)
    await pass(1)
    expect(inside).toHaveLength(1)
  })

  test('and says nothing more is left alone twice as long each time, until it has had enough patience', async () => {
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

  test('requests that were refused together are one refusal', () => {
    const gate = new HostGate(4)
    for (let at = 0; at < 50; at++) expect(gate.refused('busy', 1000)).toBe(true)
  })

  test('for hours is not asked again once it has said so a few times; one such page says nothing of the others', async () => {
    const gate = new HostGate(4)
    expect(gate.refused('busy', 3_600_000)).toBe(false)
    gate.eased()
    for (let at = 0; at < 4; at++) expect(gate.refused('busy', 3_600_000)).toBe(false)
    await expect(gate.enter(never)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('those who wait are refused when it is given up', async () => {
    const gate = new HostGate(1)
    const { inside } = ask(gate, 1)
    const { refused } = ask(gate, 2)
    await pass(0)
    expect(inside).toHaveLength(1)
    for (let at = 0; at < 4; at++) gate.refused('busy', 3_600_000)
    await pass(0)
    expect(refused).toHaveLength(2)
  })

  test('is trusted again after one that went well', async () => {
    const gate = new HostGate(4)
    for (let at = 0; at < 100; at++) {
      expect(gate.refused('busy', 100)).toBe(true)
      await pass(100)
      gate.eased()
    }
  })

  test('that is down is waited for, then each page is tried once', async () => {
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
