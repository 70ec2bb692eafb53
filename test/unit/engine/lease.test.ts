import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { leaseOf } from '../../../src/engine/lease.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns a session, and a function that opens a stream of its lease. */
function leased() {
  const session = {}
  const end = vi.fn()
  const ended = new AbortController()
  const open = (graceSecs: number) => {
    const stream = new AbortController()
    leaseOf(session).hold({ graceSecs, signal: stream.signal, ended: ended.signal, end })
    return stream
  }
  return { open, end, ended }
}

test('a stream that is opened again in time keeps the session', () => {
  const { open, end } = leased()
  open(10).abort()
  vi.advanceTimersByTime(9999)
  const again = open(10)
  vi.advanceTimersByTime(60_000)
  expect(end).not.toHaveBeenCalled()
  again.abort()
  vi.advanceTimersByTime(10_000)
  expect(end).toHaveBeenCalledOnce()
})

test('the session ends only after the last of several streams', () => {
  const { open, end } = leased()
  const [first, second] = [open(0), open(0)]
  first.abort()
  expect(end).not.toHaveBeenCalled()
  second.abort()
  expect(end).toHaveBeenCalledOnce()
})

test('a session that has ended is not ended again', () => {
  const { open, end, ended } = leased()
  const stream = open(0)
  ended.abort()
  stream.abort()
  expect(end).not.toHaveBeenCalled()
})
