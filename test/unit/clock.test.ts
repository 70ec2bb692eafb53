/** The wall clock is set a day forwards or backwards while the engine runs: what lasts a time lasts as long as before. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keylessCaller } from '../../src/core/access/caller.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { shellSessionInput } from '../../src/core/shapes/shell/session.ts'
import { Lifetime } from '../../src/engine/browser/session/lifetime.ts'
import { Tickets } from '../../src/engine/browser/session/registry.ts'
import type { ShellContainer } from '../../src/engine/shell/interface.ts'
import type { ContainerExec } from '../../src/engine/shell/container-exec.ts'
import { RunningExec } from '../../src/engine/shell/exec/running-exec.ts'
import { ShellSession } from '../../src/engine/shell/session/session.ts'
import { KeyStore } from '../../src/engine/store/keys.ts'
import { IdempotencyCache } from '../../src/server/request/idempotency.ts'

const day = 24 * 60 * 60_000

/** `setSystemTime` moves the wall clock alone; `advanceTimersByTime` is time that passes, for every clock. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const passes = (ms: number) => void vi.advanceTimersByTime(ms)

describe.each([
  ['forwards', day],
  ['backwards', -day],
])('a wall clock that jumps a day %s', (_direction, jump) => {
  const jumps = () => void vi.setSystemTime(Date.now() + jump)

  test('ends no browser session, and keeps none', () => {
    const ended: string[] = []
    const rules = { idleSecs: 60, totalSecs: 3600, onExpiring: () => {}, onEnd: (why: string) => ended.push(why) }
    new Lifetime(rules).start()
    jumps()
    passes(59_999)
    expect(ended).toEqual([])
    passes(1)
    expect(ended).toEqual(['idle_timeout'])
  })

  test('ends no shell session, and keeps none: neither while its container is made nor afterwards', () => {
    const session = shellSession({ timeout_secs: 3600, max_lifetime_secs: 100 })
    passes(10_000)
    jumps()
    session.begin(container)
    passes(45_000)
    jumps()
    passes(44_999)
    expect(session.status).toBe('ready')
    passes(1)
    expect(session.record()).toMatchObject({ status: 'stopping', stop_reason: 'max_lifetime' })
  })

  test('takes no time from a shell session that idles, and gives it none', () => {
    const session = shellSession({ timeout_secs: 60, max_lifetime_secs: 3600 })
    session.begin(container)
    jumps()
    passes(59_999)
    expect(session.status).toBe('ready')
    passes(1)
    expect(session.record()).toMatchObject({ status: 'stopping', stop_reason: 'idle_timeout' })
  })

  test('leaves a ticket as good as it was', () => {
    const tickets = new Tickets()
    const [soon, late] = [tickets.issue('ses_1'), tickets.issue('ses_2')]
    jumps()
    passes(limits.session.ticketMs - 1)
    // Those that are over go when the next is made.
    tickets.issue('ses_3')
    expect(tickets.take(soon)).toBe('ses_1')
    passes(1)
    expect(tickets.take(late)).toBeUndefined()
  })

  test('makes no repeated request run again, and none be remembered for longer', async () => {
    const repeats = new IdempotencyCache()
    let made = 0
    const ask = () => {
      const headers = new Headers({ 'idempotency-key': 'a' })
      const key = { operation: 'createShell', caller: keylessCaller, headers, signal: new AbortController().signal }
      return repeats.once(key, {}, async () => (made += 1))
    }
    expect(await ask()).toBe(1)
    jumps()
    passes(limits.repeats.keepMs - 1)
    expect(await ask()).toBe(1)
    passes(1)
    expect(await ask()).toBe(2)
  })

  test('keeps results of MCP calls for their shorter time', async () => {
    const calls = new IdempotencyCache(limits.mcp.repeats)
    const call = (result: string) => {
      const headers = new Headers({ 'idempotency-key': 'a' })
      const key = { operation: 'mcp', caller: keylessCaller, headers, signal: new AbortController().signal }
      return calls.once(key, {}, async () => result)
    }
    expect(await call('first')).toBe('first')
    passes(limits.mcp.repeats.keepMs - 1)
    expect(await call('second')).toBe('first')
    passes(1)
    expect(await call('third')).toBe('third')
  })

  test('is not in the duration of a command that runs', () => {
    const startedAt = new Date().toISOString()
    const identity = { id: 'ex_1', sessionId: 'sh_1', startedAt }
    const terms = { encoding: 'auto', isTerminal: false, log: undefined } as const
    const exec = new RunningExec(identity, { pid: 7 } as ContainerExec, terms)
    passes(1500)
    jumps()
    passes(500)
    expect(exec.record()).toMatchObject({ status: 'running', started_at: startedAt, duration_ms: 2000 })
  })
})

describe('the end of a key is a date', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-clock-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('which the wall clock reaches by jumping, and leaves again', async () => {
    const store = new KeyStore(folder)
    const { key, key_id } = await store.create({ name: 'ci', scopes: ['scrape'], expires: '12h' })
    vi.setSystemTime(Date.now() + day)
    expect(() => store.callerOf(key)).toThrow(/expired/)
    expect(store.isGood(key_id)).toBe(false)
    vi.setSystemTime(Date.now() - day)
    expect(store.callerOf(key)).toMatchObject({ keyId: key_id })
  })

  test('which is not put off by a clock that nobody sets', async () => {
    const store = new KeyStore(folder)
    const { key } = await store.create({ name: 'ci', scopes: ['scrape'], expires: '12h' })
    vi.setSystemTime(Date.now() - day)
    passes(day)
    expect(store.callerOf(key)).toMatchObject({ name: 'ci' })
    passes(day / 2)
    expect(() => store.callerOf(key)).toThrow(/expired/)
  })
})

/** One that runs, and is never done with being removed. */
const never = new Promise<never>(() => {})
const container = { died: never, end: undefined, files: {}, remove: () => never } as unknown as ShellContainer

function shellSession(times: { timeout_secs: number; max_lifetime_secs: number }): ShellSession {
  return new ShellSession({
    owner: null,
    input: shellSessionInput.parse(times),
    image: 'bax/base',
    log: () => {},
    captureFor: () => ({ take: async () => null, count: 0 }) as never,
    onStopped: () => {},
  })
}
