import { expect, test, vi } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import { takeLease } from '../../../src/client/lease.ts'

const frame = { seq: 1, ts: '2026-01-01T00:00:00.000Z', type: 'lease.held', data: {} }

/** Returns a function that opens streams: each fails as given, in order, and the last one stays open. */
const streams = (...failures: BaxError[]) =>
  vi.fn(async function* () {
    const failure = failures.shift()
    if (failure) throw failure
    yield frame
    await new Promise(() => {})
  })

test.each([
  ['engine_unreachable', 'the connection is cut'],
  ['internal_error', 'a proxy responds with 502'],
] as const)('a lease is taken again after %s: %s', async (code, message) => {
  const open = streams(new BaxError(code, message))
  const onFailure = vi.fn()
  await takeLease(open, new AbortController().signal, onFailure)
  await expect.poll(() => open.mock.calls.length).toBe(2)
  expect(onFailure).not.toHaveBeenCalled()
})

test('a lease of a session that has ended is not taken again, and reports its end', async () => {
  const open = streams(new BaxError('session_closed', 'ended'))
  const [onFailure, onEnded] = [vi.fn(), vi.fn()]
  await takeLease(open, new AbortController().signal, onFailure, onEnded)
  expect(open).toHaveBeenCalledOnce()
  expect(onFailure).not.toHaveBeenCalled()
  expect(onEnded).toHaveBeenCalledOnce()
})

test('a lease that its holder ends reports no end of the session', async () => {
  const holder = new AbortController()
  const onEnded = vi.fn()
  const open = vi.fn(async function* () {
    yield frame
    holder.abort()
    throw new BaxError('session_closed', 'ended')
  })
  await takeLease(open, holder.signal, vi.fn(), onEnded)
  await expect.poll(() => holder.signal.aborted).toBe(true)
  expect(onEnded).not.toHaveBeenCalled()
})

test('a server without leases is reported', async () => {
  const open = streams(new BaxError('route_not_found', 'no such route'))
  const onFailure = vi.fn()
  await takeLease(open, new AbortController().signal, onFailure)
  await expect.poll(() => onFailure.mock.calls.length).toBe(1)
  expect(open).toHaveBeenCalledOnce()
})
