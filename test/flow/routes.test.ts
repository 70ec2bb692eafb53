import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/** Headers of the requests for `/echo`, in order. */
const received: import('node:http').IncomingHttpHeaders[] = []

const pages = {
  '/': '<!doctype html><title>Home</title><img id=logo src=/logo.png><p id=out></p>',
  '/opens': '<!doctype html><title>Opener</title><a id=a href=/popup target=_blank>open</a>',
  '/popup': '<!doctype html><title>Popup</title>',
  '/logo.png': (_: unknown, response: import('node:http').ServerResponse) => response.end('not an image'),
  '/echo': (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => {
    received.push(request.headers)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers))
  },
  '/api/items': '{"from":"server"}',
}

inUsualHomes(pages, (given) => {
  const routes = async () => (await given.value('list_routes')) as Record<string, unknown>[]
  const fetched = (path: string, init = '{}') =>
    given.evaluate(`fetch(${JSON.stringify(path)}, ${init}).then(r => r.text(), e => 'failed')`)

  test('add_route aborts matching requests until remove_route', async () => {
    await given.open('/')
    expect(await fetched('/logo.png?v=2')).toBe('not an image')
    const { route_id } = await given.do('add_route', { url: '**/*.png', abort: true })
    expect(route_id).toMatch(/^route_\d+$/)
    expect(await fetched('/logo.png?v=2')).toBe('failed')
    expect(await fetched('/api/items')).toBe('{"from":"server"}')
    await given.open('/?again')
    expect(await fetched('/logo.png')).toBe('failed')
    expect(await routes()).toMatchObject([{ route_id, url: '**/*.png', action: 'abort', reason: 'failed', hits: 3 }])
    expect(await given.do('remove_route', { route: route_id })).toEqual({ removed: [route_id] })
    expect(await routes()).toEqual([])
    expect(await fetched('/logo.png')).toBe('not an image')
  })

  test('add_route answers requests, also navigations', async () => {
    await given.open('/')
    await given.do('add_route', {
      url: '**/api/*',
      body: '{"from":"route"}',
      content_type: 'application/json',
      status: 201,
      headers: { 'X-Own': 'yes' },
    })
    const answer = `fetch('/api/items').then(async r => [r.status, r.headers.get('x-own'), r.headers.get('content-type'), await r.json()])`
    expect(await given.evaluate(answer)).toEqual([201, 'yes', 'application/json', { from: 'route' }])
    await given.do('add_route', { url: '**/nowhere', body: '<title>Made up</title>', content_type: 'text/html' })
    expect(await given.do('navigate_to', { url: given.url('/nowhere') })).toMatchObject({ status_code: 200 })
    expect(await given.value('get_title')).toBe('Made up')
    await given.do('add_route', { url: '**/bytes', body_base64: Buffer.from([0, 255, 7]).toString('base64') })
    expect(await given.evaluate(`fetch('/bytes').then(async r => [...new Uint8Array(await r.arrayBuffer())])`)).toEqual(
      [0, 255, 7],
    )
    expect((await given.do('remove_route'))['removed']).toHaveLength(3)
  })

  test('add_route changes request headers, and the newest match applies', async () => {
    await given.open('/')
    received.length = 0
    await given.do('add_route', { url: '**/echo', abort: true })
    await given.do('add_route', {
      url: '**/echo',
      set_headers: { 'X-Test': 'one', 'User-Agent': 'me' },
      remove_headers: ['Accept-Language'],
    })
    expect(JSON.parse((await fetched('/echo')) as string)).toMatchObject({ 'x-test': 'one', 'user-agent': 'me' })
    expect(received[0]).not.toHaveProperty('accept-language')
    await given.do('remove_route')
  })

  test('routes apply by method and type only', async () => {
    await given.open('/')
    await given.do('add_route', { url: '**/api/*', method: 'post', status: 404 })
    await given.do('add_route', { url: '**', type: ['image'], abort: true })
    expect(await fetched('/api/items')).toBe('{"from":"server"}')
    expect(await fetched('/api/items', `{method:'POST'}`)).toBe('')
    expect(await fetched('/logo.png')).toBe('not an image')
    const image = `new Promise(done => { const i = new Image(); i.onload = i.onerror = e => done(e.type); i.src = '/logo.png?img' })`
    expect(await given.evaluate(image)).toBe('error')
    expect(await routes()).toMatchObject([{ hits: 1 }, { hits: 1 }])
    await given.do('remove_route')
  })

  test('routes apply to new tabs', async () => {
    await given.open('/opens')
    await given.do('add_route', { url: '**/popup', body: '<title>Routed</title>', content_type: 'text/html' })
    await given.do('click', { selector: '#a' })
    await expect.poll(() => given.value('get_title')).toBe('Routed')
    await given.do('remove_route', { route: '**/popup' })
  })

  test('a route needs exactly one action, and headers that may be set', async () => {
    const fails = async (data: Record<string, unknown>) =>
      (await given.fails('add_route', { url: '**', ...data })).error
    expect(await fails({})).toBe('a route needs exactly one of abort, an answer, and changes of headers')
    expect(await fails({ abort: true, status: 200 })).toMatch(/exactly one/)
    expect(await fails({ body: 'a', body_base64: 'YQ==' })).toMatch(/not both/)
    expect((await given.fails('remove_route', { route: 'route_99' })).error).toBe(
      'no route has the ID or URL "route_99"',
    )
    expect(await routes()).toEqual([])
  })

  test.each([
    [{ set_headers: { Host: 'internal' } }, /controls the header Host/],
    [{ set_headers: { Cookie: 'a=1' } }, /set cookies with set_cookie/],
    [{ set_headers: { 'x-a': 'b\r\nHost: internal' } }, /control characters/],
    [{ remove_headers: ['sec-fetch-site'] }, /controls the header sec-fetch-site/],
    [{ status: 302, headers: { Location: 'file:///etc/passwd' } }, /location must be an http or https URL/],
    [{ headers: { 'Content-Length': '5' } }, /the engine sets the header Content-Length/],
  ])('add_route refuses %j', async (data, message) => {
    const run = given.run([['add_route', { url: '**', ...data }]])
    await expect(run).rejects.toThrow(message)
  })
})
