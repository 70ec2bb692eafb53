/** Limits on the size, depth and number of values of requests. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../../src/core/engine.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { operations, streams, transfers } from '../../../src/operations/index.ts'
import { createApp } from '../../../src/server/app.ts'
import { privateGate } from '../../../src/server/access/gate.ts'
import { exceededLimit } from '../../../src/core/operation/json-extent.ts'

const untouched = new Proxy({} as Engine, {
  get: () => {
    throw new Error('the engine was reached')
  },
})
const app = createApp({ engine: untouched, gate: privateGate })
const json = { 'content-type': 'application/json' }
const post = async (path: string, body: string) => {
  const response = await app.request(path, { method: 'POST', headers: json, body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const mebibyte = 1024 * 1024

describe('a body', () => {
  test('with a declared size above the limit is rejected unread', async () => {
    let asked = 0
    const body = new ReadableStream({ pull: () => void (asked += 1) }, { highWaterMark: 0 })
    const headers = { ...json, 'content-length': String(11 * mebibyte) }
    const response = await app.request('/sessions', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    expect([response.status, asked]).toEqual([413, 0])
  })

  test('is rejected as soon as it exceeds the limit', async () => {
    let sent = 0
    const endless = function* () {
      for (;;) {
        sent += 1
        yield Buffer.alloc(mebibyte, ' ')
      }
    }
    const body = Readable.toWeb(Readable.from(endless()))
    const response = await app.request('/sessions', { method: 'POST', headers: json, body, duplex: 'half' } as never)
    expect(response.status).toBe(413)
    expect(sent).toBeLessThan(30)
  })

  test('may be larger where files are written', async () => {
    const text = JSON.stringify({ session_id: 'sh_1', path: '/a\0', content: 'x'.repeat(20 * mebibyte) })
    expect(await post('/shell/fs/write', text)).toMatchObject({ status: 400, body: { details: [{ path: 'path' }] } })
    const larger = JSON.stringify({ content: 'x'.repeat(65 * mebibyte) })
    expect(await post('/shell/fs/write', larger)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
  })

  test.each([
    ['lists', `{"commands":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`],
    ['objects', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`],
    ['lists that never end', '['.repeat(10_000_000)],
  ])('of nested %s is a 400', async (_, text) => {
    const { status, body } = await post('/sessions', text)
    expect([status, body['error']]).toEqual([400, 'the body is nested deeper than 100 levels'])
  })

  test.each([
    ['empty lists', `{"commands":[${'[],'.repeat(3_000_000)}1]}`],
    ['numbers', `{"commands":[${'1,'.repeat(3_000_000)}1]}`],
    ['names', `{${Array.from({ length: 400_000 }, (_, at) => `"name${at}":1`).join(',')}}`],
    ['strings that nothing separates', `{${'""'.repeat(3_000_000)}}`],
  ])('of millions of %s is a 400 that names the bound', async (_, text) => {
    const { status, body } = await post('/sessions', text)
    expect([status, body['code'], body['error']]).toEqual([
      400,
      'invalid_request',
      `the body has more than ${limits.input.values} values`,
    ])
  })

  test.each(['/commands', '/browser_step'])('with a long context is a 400 that names it (%s)', async (path) => {
    const withContext = (chars: number) =>
      post(path, JSON.stringify({ commands: [{ command: 'get_title' }], context: { task: 'x'.repeat(chars) } }))
    const most = limits.input.contextChars
    const { status, body } = await withContext(most)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        error: `context must have at most ${most} characters as JSON`,
        details: [{ path: 'context' }],
      },
    })
    // At the limit, it reaches the engine.
    expect((await withContext(most - '{"task":""}'.length)).status).toBe(500)
  })

  test.each<[string, string, unknown, string]>([
    [
      'too many commands',
      '/commands',
      { commands: Array.from({ length: 1001 }, () => ({ command: 'get_title' })) },
      'commands',
    ],
    ['many wrong commands', '/commands', { commands: Array(200_000).fill(1) }, 'commands'],
    ['too many formats', '/v1/scrape', { url: 'x', formats: Array(200_000).fill(1) }, 'formats'],
    [
      'too many actions',
      '/v1/scrape',
      { url: 'x', actions: Array.from({ length: 51 }, () => ({ type: 'wait', milliseconds: 1 })) },
      'actions',
    ],
    ['too many paths', '/v1/crawl', { url: 'x', includePaths: Array(200_000).fill('/a') }, 'includePaths'],
    ['too many words', '/shell/exec', { session_id: 's', argv: Array(200_000).fill('a') }, 'argv'],
    [
      'too many tags',
      '/sessions',
      { tags: Object.fromEntries(Array.from({ length: 20_000 }, (__, at) => [at, 1])) },
      'tags',
    ],
    [
      'too much to store',
      '/commands',
      { commands: [{ command: 'set_local_storage', data: { items: Array(200_000).fill(7) } }] },
      'commands[0].data.items',
    ],
  ])('with %s is a short 400 that names the list', async (_, path, given, field) => {
    const { status, body } = await post(path, JSON.stringify(given))
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_request', details: [{ path: field }] })
    expect(JSON.stringify(body).length).toBeLessThan(1000)
  })

  test('with too many fields is a 400', async () => {
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field${at}`, at]))
    const { status, body } = await post('/sessions', JSON.stringify(fields))
    expect([status, body['error']]).toEqual([400, 'the body must have at most 1000 fields'])
  })

  test('with many or long errors gets a short response', async () => {
    const commands = Array.from({ length: 1000 }, (_, at) => ({ command: `unknown${at}`.padEnd(5000, 'x') }))
    const { status, body } = await post('/commands', JSON.stringify({ commands }))
    expect([status, (body['details'] as []).length]).toEqual([400, limits.input.faults])
    expect(JSON.stringify(body).length).toBeLessThan(20_000)
    const long = await post('/v1/scrape', JSON.stringify({ url: '', ['x'.repeat(mebibyte)]: 1 }))
    expect(long.status).toBe(400)
    expect(JSON.stringify(long.body).length).toBeLessThan(5000)
  })
})

test('brackets in strings do not count as depth', () => {
  const within = (text: string, depth: number) => exceededLimit(Buffer.from(text), { depth, values: 100 })
  const deeper = (value: unknown, most: number) => within(JSON.stringify(value), most) === 'depth'
  expect(deeper([[['[[[[[[']]], 3)).toBe(false)
  expect(deeper([[[1]]], 2)).toBe(true)
  expect(deeper({ 'a"[{[{\\': ['\\', '\\"[', { b: '"' }] }, 3)).toBe(false)
  expect(deeper([[1], [2], [3], { a: 1 }], 2)).toBe(false)
  expect(within('["never ends', 1)).toBeUndefined()
})

test.each<[unknown, number]>([
  [1, 1],
  [[], 1],
  [[[], [], {}], 4],
  [[',', '[', { 'a,"': '\\",[' }], 5],
  [{ a: 1, b: [1, 2, 3], c: { d: null } }, 8],
])('the values of %j are counted, outside of strings: %i', (value, values) => {
  const excess = (most: number) => exceededLimit(Buffer.from(JSON.stringify(value)), { depth: 9, values: most })
  expect([excess(values), excess(values - 1)]).toEqual([undefined, 'values'])
})

/** Lists in the inputs of all operations, by path. */
function listsWithoutBound(): string[] {
  const found = new Set<string>()
  const walk = (schema: Record<string, unknown>, path: string): void => {
    if (schema['type'] === 'array' && schema['maxItems'] === undefined) found.add(path)
    for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, never>))
      walk(inner, `${path}.${name}`)
    for (const word of ['anyOf', 'oneOf', 'allOf'])
      for (const inner of (schema[word] ?? []) as never[]) walk(inner, path)
    if (schema['items']) walk(schema['items'] as never, `${path}[]`)
  }
  for (const [name, { input }] of Object.entries({ ...operations, ...streams, ...transfers }))
    walk(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as never, name)
  return [...found]
}

test('every list in an input has a maximum length', () => {
  expect(listsWithoutBound()).toEqual([])
})
