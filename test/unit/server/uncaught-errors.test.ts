import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { exits } from '../../../src/core/errors/errors.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { withErrorHandler } from '../../../src/core/process/unhandled-errors.ts'
import { handleUncaughtErrors } from '../../../src/server/process/uncaught-errors.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function openProcess() {
  const listeners = { stray: new Set<(error: unknown) => void>(), crash: new Set<(error: unknown) => void>() }
  const subscribe = (name: keyof typeof listeners) => (listener: (error: unknown) => void) => {
    listeners[name].add(listener)
    return () => void listeners[name].delete(listener)
  }
  const exited: number[] = []
  const lines: { message: string; cause?: unknown }[] = []
  const faults = {
    onStray: subscribe('stray'),
    onCrash: subscribe('crash'),
    exit: (code: number) => void exited.push(code),
  }
  const resort = handleUncaughtErrors(faults, (_, message, facts) => void lines.push({ message, ...facts }))
  const raise = (name: keyof typeof listeners, error: unknown) => {
    for (const listener of listeners[name]) listener(error)
  }
  return { ...resort, raise, lines, exited, listeners }
}

describe('uncaught errors', () => {
  test('an unhandled rejection is logged with its stack and does not end the process', () => {
    const { raise, lines, crashed } = openProcess()
    raise('stray', new Error('lost'))
    expect(crashed.aborted).toBe(false)
    expect(lines).toEqual([{ message: 'unhandled rejection', cause: expect.stringMatching(/^Error: lost\n +at /) }])
  })

  test('an unhandled rejection is reported to the owner of the code that caused it', () => {
    const { raise, lines } = openProcess()
    const reported: unknown[] = []
    const error = new Error('lost')
    withErrorHandler(
      (fault) => void reported.push(fault),
      () => raise('stray', error),
    )
    expect(reported).toEqual([error])
    expect(lines).toHaveLength(1)
  })

  test('logging is limited per minute', () => {
    const { raise, lines } = openProcess()
    for (let count = 0; count < 1000; count += 1) raise('stray', 'again')
    expect(lines).toHaveLength(limits.faults.linesPerMin)
    vi.advanceTimersByTime(60_000)
    raise('stray', 'again')
    expect(lines).toHaveLength(limits.faults.linesPerMin + 1)
  })

  test('an uncaught exception shuts the process down, by force if that takes too long', () => {
    const { raise, lines, crashed, exited } = openProcess()
    raise('crash', new Error('broken'))
    expect(crashed.reason).toMatchObject({ code: 'internal_error' })
    expect(lines).toMatchObject([{ cause: expect.stringContaining('broken') }])
    expect(exited).toEqual([])
    vi.advanceTimersByTime(limits.faults.endMs)
    expect(exited).toEqual([exits.internal])
  })

  test('the handlers are removed afterwards', () => {
    const { stop, listeners } = openProcess()
    stop()
    expect(listeners.stray.size + listeners.crash.size).toBe(0)
  })
})
