/** `Idempotency-Key`, on an engine that counts what it creates. */
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/core/engine.ts'
import { BaxError } from '../../../src/core/errors/errors.ts'
import type { Caller } from '../../../src/core/access/caller.ts'
import { createApp } from '../../../src/server/app.ts'
import { privateGate } from '../../../src/server/access/gate.ts'

/** Accepts every key. */
const keys = {
  required: () => true,
  check: () => {},
  isGood: () => true,
  whenLost: () => {},
  callerOf: (key: string): Caller => ({ keyId: key, name: key, scopes: ['shell'], admin: false }),
}

function counting(fails: (count: number) => boolean = () => false) {
  let made = 0
  const create = async () => {
    made += 1
    if (fails(made)) throw new BaxError('no_capacity', 'not now')
    return { id: `sh_${made}`, session_id: `sh_${made}` }
  }
  const engine = { shells: { sessions: { create } } } as unknown as Engine
  const app = createApp({ engine, gate: { ...privateGate, keys } })
  return async (key: string | null, body: object = {}, more: Record<string, string> = {}) => {
    const headers = {
      'content-type': 'application/json',
      'x-api-key': 'one',
      ...(key !== null && { 'idempotency-key': key }),
      ...more,
    }
    const response = await app.request('/shell/sessions', { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

describe('a request with an idempotency-key', () => {
  test('gets the first response when repeated, also while the first request still runs', async () => {
    const send = counting()
    const [first, second] = await Promise.all([send('a', { name: 'x' }), send('a', { name: 'x' })])
    expect(second).toEqual(first)
    expect(await send('a', { name: 'x' })).toEqual(first)
    expect((await send('b', { name: 'x' })).body).not.toEqual(first.body)
  })

  test('is rejected with another body, or with a key that is too long', async () => {
    const send = counting()
    await send('a', { name: 'x' })
    expect(await send('a', { name: 'y' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(await send('k'.repeat(256))).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  test('is separate for each caller; without a key, every request runs', async () => {
    const send = counting()
    const ids = [
      await send('a', {}, { 'x-api-key': 'one' }),
      await send('a', {}, { 'x-api-key': 'two' }),
      await send(null),
      await send(null),
    ].map(({ body }) => body['id'])
    expect(new Set(ids).size).toBe(4)
  })

  test('can be retried after an error', async () => {
    const send = counting((count) => count === 1)
    expect((await send('a')).status).toBe(503)
    expect(await send('a')).toMatchObject({ status: 200, body: { id: 'sh_2' } })
  })
})

test('a request whose first sender disconnected runs for the one who repeats it', async () => {
  let made = 0
  let begun!: () => void
  const beginning = new Promise<void>((resolve) => (begun = resolve))
  const create = async (_: unknown, { signal }: { signal: AbortSignal }) => {
    made += 1
    const id = `sh_${made}`
    if (made > 1) return { id, session_id: id }
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      begun()
    })
  }
  const engine = { shells: { sessions: { create } } } as unknown as Engine
  const app = createApp({ engine, gate: privateGate })
  const gone = new AbortController()
  const send = (signal?: AbortSignal) =>
    app.fetch(
      new Request('http://127.0.0.1/shell/sessions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'a' },
        body: '{}',
        ...(signal && { signal }),
      }),
    )
  const first = send(gone.signal)
  await beginning
  const second = send()
  gone.abort()
  await first
  expect(await (await second).json()).toMatchObject({ session_id: 'sh_2' })
  expect(made).toBe(2)
})

test('a repeated crawl rebuilds the response from the stored crawl', async () => {
  const id = 'crl_b3TgJ6wYx9Nf1CzAq2Ws'
  const whole = {
    success: true,
    id,
    url: 'http://x/',
    status: 'completed',
    total: 0,
    completed: 0,
    discovered: 0,
    duration_ms: 1,
    data: [],
  }
  const accounts = { errors: [], skipped: [], skipped_total: 0, robots_blocked: [] }
  let crawled = 0
  const crawls = {
    crawl: async () => ((crawled += 1), { ...whole, ...accounts }),
    get: async () => ({ ...whole, created_at: 'then', expires_at: 'later' }),
    accounts: async () => ({ success: true, ...accounts }),
  }
  const app = createApp({ engine: { crawls } as unknown as Engine, gate: privateGate })
  const send = async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'a' }
    const answer = await app.request('/v1/crawl', { method: 'POST', headers, body: '{"url":"example.com"}' })
    return { status: answer.status, body: (await answer.json()) as unknown }
  }
  const first = await send()
  expect(first).toEqual({ status: 200, body: { ...whole, ...accounts } })
  expect(await send()).toEqual(first)
  expect(crawled).toBe(1)
})
