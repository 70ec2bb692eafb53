import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../src/engine/browser/session/lifetime.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function begin(idleSecs: number, totalSecs: number) {
  const reported: string[] = []
  const begun = performance.now()
  const at = () => Math.round((performance.now() - begun) / 1000)
  const lifetime = new Lifetime({
    idleSecs,
    totalSecs,
    onExpiring: (reason, ms) => reported.push(`${at()}: ${reason} in ${Math.round(ms / 1000)}`),
    onEnd: (reason) => reported.push(`${at()}: ${reason}`),
  })
  lifetime.start()
  return { lifetime, reported }
}

describe('lifetime of a session', () => {
  test('ends after the maximum lifetime, announced 30 seconds before', () => {
    const { reported } = begin(0, 100)
    vi.advanceTimersByTime(200_000)
    expect(reported).toEqual(['70: lifetime in 30', '100: lifetime'])
  })

  test('ends after the idle timeout, which activity restarts', () => {
    const { lifetime, reported } = begin(60, 3600)
    vi.advanceTimersByTime(50_000)
    lifetime.touch()
    vi.advanceTimersByTime(40_000)
    expect(reported).toEqual(['30: idle_timeout in 30', '80: idle_timeout in 30'])
    vi.advanceTimersByTime(20_000)
    expect(reported.at(-1)).toBe('110: idle_timeout')
  })

  test('announces the end at once when the lifetime is shorter than the notice', () => {
    const { reported } = begin(0, 10)
    expect(reported).toEqual(['0: lifetime in 10'])
    vi.advanceTimersByTime(10_000)
    expect(reported.at(-1)).toBe('10: lifetime')
  })

  test('suspends the idle timeout while something runs, but not the maximum lifetime', () => {
    const { lifetime, reported } = begin(60, 300)
    const release = lifetime.hold()
    vi.advanceTimersByTime(200_000)
    expect(reported).toEqual([])
    release()
    vi.advanceTimersByTime(60_000)
    expect(reported).toEqual(['230: idle_timeout in 30', '260: idle_timeout'])
  })

  test('does not end after it is stopped', () => {
    const { lifetime, reported } = begin(5, 10)
    lifetime.stop()
    vi.advanceTimersByTime(60_000)
    expect(reported).toEqual(['0: idle_timeout in 5'])
  })
})
