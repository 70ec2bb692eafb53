import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Lifetime } from '../../../src/engine/browser/session/lifetime.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function begin(idleSecs: number, totalSecs: number) {
  const told: string[] = []
  const begun = performance.now()
  const at = () => Math.round((performance.now() - begun) / 1000)
  const lifetime = new Lifetime({
    idleSecs,
    totalSecs,
    onExpiring: (reason, ms) => told.push(`${at()}: ${reason} in ${Math.round(ms / 1000)}`),
    onEnd: (reason) => told.push(`${at()}: ${reason}`),
  })
  lifetime.start()
  return { lifetime, told }
}

describe('the lifetime of a session', () => {
  test('ends after the whole time, announced 30 seconds before', () => {
    const { told } = begin(0, 100)
    vi.advanceTimersByTime(200_000)
    expect(told).toEqual(['70: lifetime in 30', '100: lifetime'])
  })

  test('ends after the idle time; activity begins it anew', () => {
    const { lifetime, told } = begin(60, 3600)
    vi.advanceTimersByTime(50_000)
    lifetime.touch()
    vi.advanceTimersByTime(40_000)
    expect(told).toEqual(['30: idle_timeout in 30', '80: idle_timeout in 30'])
    vi.advanceTimersByTime(20_000)
    expect(told.at(-1)).toBe('110: idle_timeout')
  })

  test('is announced at once when it is shorter than the notice', () => {
    const { told } = begin(0, 10)
    expect(told).toEqual(['0: lifetime in 10'])
    vi.advanceTimersByTime(10_000)
    expect(told.at(-1)).toBe('10: lifetime')
  })

  test('is not idle while something runs, but its whole time goes on', () => {
    const { lifetime, told } = begin(60, 300)
    const letGo = lifetime.hold()
    vi.advanceTimersByTime(200_000)
    expect(told).toEqual([])
    letGo()
    vi.advanceTimersByTime(60_000)
    expect(told).toEqual(['230: idle_timeout in 30', '260: idle_timeout'])
  })

  test('ends no more once it is stopped', () => {
    const { lifetime, told } = begin(5, 10)
    lifetime.stop()
    vi.advanceTimersByTime(60_000)
    expect(told).toEqual(['0: idle_timeout in 5'])
  })
})
