import { gzipSync } from 'node:zlib'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeEach, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': '<!doctype html><title>Home</title>',
  '/api/ok': (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'set-cookie': 'a=1' })
    response.end(gzipSync('{"items":[1,2]}'))
  },
  '/api/gone': (_: unknown, response: ServerResponse) => response.writeHead(410).end('gone'),
  '/bytes': (_: unknown, response: ServerResponse) => response.end(Buffer.from([0, 255, 1])),
  '/long': `${'ä'.repeat(1000)}`,
  '/moved': (_: unknown, response: ServerResponse) => response.writeHead(302, { location: '/api/ok' }).end(),
  '/broken': (request: IncomingMessage) => request.socket.destroy(),
  '/slow': () => {},
  '/received': async (request: IncomingMessage, response: ServerResponse) => {
    let bytes = 0
    for await (const chunk of request) bytes += (chunk as Buffer).length
    response.end(String(bytes))
  },
}

interface Listed {
  readonly requests: { request_id: string; url: string; status: number | null; [field: string]: unknown }[]
  readonly total: number
}

inUsualHomes(pages, (given) => {
  beforeEach(given.restart)

  const list = async (data: Record<string, unknown> = {}) => (await given.value('list_requests', data)) as Listed
  const get = async (request_id: string, data = {}) =>
    (await given.value('get_request', { request_id, ...data })) as Record<string, unknown>
  const last = async (url: string) => (await list({ url })).requests.at(-1)!
  /** Fetches in the page. The browser may report the end of a request later than the page, and in another order. */
  const fetched = async (path: string, init = '{}') => {
    const text = await given.evaluate(`fetch(${JSON.stringify(path)}, ${init}).then(r => r.text(), e => 'failed')`)
    await expect.poll(async () => (await list({ status: 'pending' })).total).toBe(0)
    return text
  }

  test('list_requests filters by URL, type, method and status', async () => {
    await given.open('/')
    await fetched('/api/ok?page=2')
    await fetched('/api/gone', `{method:'POST', body:'q=1'}`)
    await fetched('/broken')
    const urls = async (data: Record<string, unknown>) =>
      (await list(data)).requests.map(({ url }) => new URL(url).pathname)
    expect(await urls({ url: '**/api/*' })).toEqual(['/api/ok', '/api/gone'])
    expect(await urls({ type: ['fetch'], status: '4xx' })).toEqual(['/api/gone'])
    expect(await urls({ method: 'post' })).toEqual(['/api/gone'])
    expect(await urls({ status: 'failed' })).toEqual(['/broken'])
    expect(await urls({ status: '410' })).toEqual(['/api/gone'])
    expect(await urls({ type: ['document'] })).toEqual(['/'])
    expect(await list({ type: ['fetch'], limit: 1 })).toMatchObject({
      total: 3,
      requests: [{ error: expect.any(String) }],
    })
    expect(await last('**/api/gone')).toMatchObject({
      method: 'POST',
      resource_type: 'fetch',
      status: 410,
      pending: false,
      duration_ms: expect.any(Number),
      tab_id: 'tab_1',
    })
  })

  test('requests are forgotten when newer ones send many megabytes', async () => {
    await given.open('/')
    const send = (path: string) => fetched(path, `{ method: 'POST', body: 'x'.repeat(1.5 * 1024 * 1024) }`)
    for (let count = 1; count <= 24; count += 1) await send(`/broken?${count}`)
    const urls = (await list({})).requests.map(({ url }) => url)
    expect(urls).not.toContain(given.url('/broken?1'))
    expect(urls.at(-1)).toBe(given.url('/broken?24'))
  })

  test('a request that is not answered yet is pending', async () => {
    await given.open('/')
    await given.evaluate(`void fetch('/slow')`)
    await expect
      .poll(() => list({ url: '**/slow', status: 'pending' }))
      .toMatchObject({
        requests: [{ status: null, duration_ms: null }],
      })
    const { request_id } = await last('**/slow')
    expect(await get(request_id)).toMatchObject({
      response_headers: null,
      body_missing: 'the response has not arrived',
    })
  })

  test('get_request says why a large sent body is missing, which the server has received', async () => {
    await given.open('/')
    expect(await fetched('/received', `{method:'POST', body:'x'.repeat(5 * 1024 * 1024)}`)).toBe('5242880')
    const { request_id } = await last('**/received')
    expect(await get(request_id)).toMatchObject({ request_body: null, request_body_missing: expect.any(String) })
    await fetched('/received', `{method:'POST', body:'x'.repeat(1000)}`)
    const small = await get((await last('**/received')).request_id)
    expect(small).toMatchObject({ request_body: { bytes: 1000 } })
    expect(small).not.toHaveProperty('request_body_missing')
  })

  test('get_request returns headers and bodies', async () => {
    await given.open('/')
    await fetched('/api/ok')
    expect(await get((await last('**/api/ok')).request_id)).toMatchObject({
      request_headers: { host: new URL(given.url('/')).host },
      request_body: null,
      response_headers: { 'content-type': 'application/json', 'set-cookie': 'a=1' },
      response_body: { text: '{"items":[1,2]}', content_type: 'application/json', bytes: 15, truncated: false },
    })
    await fetched('/api/gone', `{method:'POST', body:'q=1', headers: {authorization: 'Bearer secret'}}`)
    expect(await get((await last('**/api/gone')).request_id)).toMatchObject({
      request_headers: { authorization: 'Bearer secret' },
      request_body: { text: 'q=1', bytes: 3 },
      response_body: { text: 'gone' },
    })
    await fetched('/bytes')
    expect(await get((await last('**/bytes')).request_id)).toMatchObject({
      response_body: { base64: 'AP8B', bytes: 3 },
    })
    await fetched('/long')
    const { response_body } = await get((await last('**/long')).request_id, { max_bytes: 5 })
    expect(response_body).toMatchObject({ text: 'ää', bytes: 2000, truncated: true })
  })

  test('get_request says why there is no body', async () => {
    await given.open('/')
    await fetched('/moved')
    const { requests } = await list({ url: '**/moved' })
    expect(await get(requests.at(-1)!.request_id)).toMatchObject({
      status: 302,
      body_missing: 'a redirect has no body',
    })
    await fetched('/broken')
    expect(await get((await last('**/broken')).request_id)).toMatchObject({ body_missing: 'the request failed' })
    const unknown = await given.fails('get_request', { request_id: '99999' })
    expect(unknown.error).toBe('no recent request has the ID "99999"')
  })

  test('the ID of a request is that of its events, which have no headers', async () => {
    await given.open('/')
    await fetched('/api/gone', `{headers: {authorization: 'Bearer secret-in-log'}}`)
    const { request_id } = await last('**/api/gone')
    const { console: _, network } = (await given.client().observe({
      session_id: given.sessionId(),
      include: ['network'],
    })) as unknown as { console: unknown; network: unknown }
    expect(JSON.stringify(network)).toContain('/api/gone')
    expect(JSON.stringify(network)).not.toContain('secret-in-log')
    expect(request_id).toMatch(/^\d+$/)
  })
})
