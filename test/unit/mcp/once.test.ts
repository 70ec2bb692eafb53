import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { onceHere } from '../../../src/mcp/stateless/once.ts'

/** Calls of one process, and how often each has run. */
function calls() {
  const once = onceHere()
  const runs: string[] = []
  const call = <T>(key: string, work: () => Promise<T>, onFound?: () => void) =>
    once({ key, input: {}, signal: new AbortController().signal, ...(onFound && { onFound }) }, () => {
      runs.push(key)
      return work()
    })
  return { call, runs }
}

describe('a call of a client that is asked', () => {
  test('runs once, and reports that an earlier one was found', async () => {
    const { call, runs } = calls()
    const found: string[] = []
    expect(
      await call(
        'a',
        async () => 1,
        () => found.push('first'),
      ),
    ).toBe(1)
    expect(
      await call(
        'a',
        async () => 2,
        () => found.push('second'),
      ),
    ).toBe(1)
    expect([runs, found]).toEqual([['a'], ['second']])
  })

  test('is kept while it waits, however many others run meanwhile', async () => {
    const { call, runs } = calls()
    let finish = (_text: string) => {}
    const waiting = call('waiting', () => new Promise<string>((resolve) => (finish = resolve)))
    for (let at = 0; at < 2 * limits.mcp.pending; at += 1) await call(`call ${at}`, async () => at)
    finish('done')
    expect(await call('waiting', async () => 'again')).toBe('done')
    expect(await waiting).toBe('done')
    await call('call 0', async () => 'again')
    expect(runs.filter((key) => key === 'waiting' || key === 'call 0')).toEqual(['waiting', 'call 0', 'call 0'])
  })
})
