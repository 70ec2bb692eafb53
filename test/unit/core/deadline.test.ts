import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withDeadline } from '../../../src/core/process/deadline.ts'

const reason = new Error('stopped')
const never = () => new Promise<never>(() => {})
/** Work that ends when its signal is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))))
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

const unhandled: unknown[] = []
const onUnhandled = (error: unknown) => unhandled.push(error)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(async () => {
  // Unhandled rejections are reported after the microtasks of their turn.
  await pause(5)
  process.off('unhandledRejection', onUnhandled)
  expect(unhandled).toEqual([])
})

describe('work that ends first', () => {
  test('returns the value of a promise and of a function', async () => {
    expect(await withDeadline(Promise.resolve(1), { ms: 1000 })).toBe(1)
    expect(await withDeadline(async () => 2, { ms: 1000 })).toBe(2)
    expect(await withDeadline(async () => 3, {})).toBe(3)
  })

  test('rejects with its own error', async () => {
    const { signal } = new AbortController()
    const error = new Error('its own')
    await expect(withDeadline(Promise.reject(error), { ms: 1000, signal })).rejects.toBe(error)
    await expect(withDeadline(Promise.reject(error), { ms: 1000, value: null })).rejects.toBe(error)
    const throwing = () => {
      throw error
    }
    await expect(withDeadline(throwing, { ms: 1000 })).rejects.toBe(error)
  })

  test('is not affected by a later abort', async () => {
    const controller = new AbortController()
    expect(await withDeadline(async () => 1, { signal: controller.signal })).toBe(1)
    controller.abort(reason)
  })
})

describe('a timeout', () => {
  test('rejects with a BaxError of the given message, or with a default one', async () => {
    const late = { code: 'timeout', message: 'the tab did not close' }
    await expect(withDeadline(never(), { ms: 1, error: late.message })).rejects.toMatchObject(late)
    const plain = { code: 'timeout', message: 'not done within 1 ms' }
    await expect(withDeadline(never(), { ms: 1 })).rejects.toMatchObject(plain)
  })

  test('rejects with the error that a function creates, and only then', async () => {
    const late = new RangeError('late')
    await expect(withDeadline(never(), { ms: 1, error: () => late })).rejects.toBe(late)
    const error = () => expect.fail('created too early')
    expect(await withDeadline(Promise.resolve(1), { ms: 1000, error })).toBe(1)
  })

  test('resolves with the given value', async () => {
    expect(await withDeadline(never(), { ms: 1, value: 'none' })).toBe('none')
    expect(await withDeadline(never(), { ms: 1, value: undefined })).toBeUndefined()
  })

  test('aborts the signal of the work with the same error', async () => {
    let inner!: AbortSignal
    const work = (signal: AbortSignal) => {
      inner = signal
      return never()
    }
    const error = await withDeadline(work, { ms: 1, error: 'late' }).catch((thrown: unknown) => thrown)
    expect(inner.reason).toBe(error)
  })

  test('ignores a later rejection of the work', async () => {
    const late = pause(10).then(() => Promise.reject(new Error('too late')))
    expect(await withDeadline(late, { ms: 1, value: undefined })).toBeUndefined()
    await pause(20)
  })

  test('leaves no timer behind when the work ends first', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    await withDeadline(Promise.resolve(), { ms: 60_000 })
    expect(timers()).toBe(before)
  })

  test('keeps no process alive when it is unref', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const controller = new AbortController()
    const waiting = withDeadline(never(), { ms: 60_000, unref: true, signal: controller.signal })
    expect(timers()).toBe(before)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('an abort', () => {
  test('before the start rejects with the reason and does not start the work', async () => {
    const signal = AbortSignal.abort(reason)
    const work = async () => expect.fail('started')
    await expect(withDeadline(work, { ms: 1000, signal })).rejects.toBe(reason)
    await expect(withDeadline(Promise.reject(new Error('late')), { signal })).rejects.toBe(reason)
  })

  test('during the work rejects at once with the reason, and aborts the signal of the work', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    let inner!: AbortSignal
    const work = (signal: AbortSignal) => {
      inner = signal
      return untilAborted(signal)
    }
    const waiting = withDeadline(work, { ms: 1000, signal: [first.signal, second.signal] })
    expect(inner.aborted).toBe(false)
    second.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(inner.reason).toBe(reason)
  })

  test('of work without an end rejects although it has a value for a timeout', async () => {
    const controller = new AbortController()
    const waiting = withDeadline(never(), { ms: 1000, value: 1, signal: controller.signal })
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })

  test('finds no listener after the end, whatever ended the work', async () => {
    const { signal } = new AbortController()
    await withDeadline(Promise.resolve(), { signal })
    await withDeadline(never(), { ms: 1, value: undefined, signal })
    await withDeadline(Promise.reject(reason), { signal }).catch(() => {}) // The listeners count here.
    await withDeadline(async () => {}, { signal: [signal, AbortSignal.abort()], cooperative: true })
    expect(listeners(signal)).toBe(0)
  })

  test('reaches what the work has left behind: its signal is aborted after the end', async () => {
    let inner!: AbortSignal
    await withDeadline(async (signal) => void (inner = signal), { ms: 1000 })
    expect(inner.aborted).toBe(true)
  })
})

describe('cooperative work', () => {
  test('is waited for after a timeout, whose error replaces its own', async () => {
    let ended = false
    const work = (signal: AbortSignal) =>
      untilAborted(signal).catch(async (error: unknown) => {
        await pause(10)
        ended = true
        throw error
      })
    await expect(withDeadline(work, { ms: 1, error: 'late', cooperative: true })).rejects.toThrow('late')
    expect(ended).toBe(true)
    expect(await withDeadline(work, { ms: 1, value: 0, cooperative: true })).toBe(0)
  })

  test('keeps its result although the time has passed', async () => {
    const work = (signal: AbortSignal) => untilAborted(signal).catch(() => 'a part')
    expect(await withDeadline(work, { ms: 1, cooperative: true })).toBe('a part')
  })

  test('reports an abort in its own way, also when it is aborted before the start', async () => {
    const controller = new AbortController()
    const work = (signal: AbortSignal) =>
      signal.aborted ? Promise.reject(new Error('aborted before')) : untilAborted(signal)
    const waiting = withDeadline(work, { ms: 1000, signal: controller.signal, cooperative: true })
    controller.abort(reason)
    await expect(waiting).rejects.toThrow('cut off')
    const late = withDeadline(work, { signal: controller.signal, cooperative: true })
    await expect(late).rejects.toThrow('aborted before')
  })

  test('keeps its signal open after its end', async () => {
    let inner!: AbortSignal
    await withDeadline(async (signal) => void (inner = signal), { ms: 1000, cooperative: true })
    expect(inner.aborted).toBe(false)
  })
})
