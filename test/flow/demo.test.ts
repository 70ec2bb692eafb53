/** `bax demo`: the site that people try bax on. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { waitFor } from '../support/wait.ts'

/** Serves the demo until a signal. */
async function serveDemo() {
  const stop = new AbortController()
  let shown = ''
  const ended = bax(['demo', '--port', '0'], { signal: stop.signal, onOutput: (text) => (shown += text) })
  const url = await waitFor('the address', () => /^http:\S+(?=\n)/.exec(shown)?.[0])
  return { url, end: async (signal: 'SIGTERM' | 'SIGINT') => (stop.abort(signal), (await ended).code) }
}

describe('the demo site', () => {
  let demo: Awaited<ReturnType<typeof serveDemo>>
  beforeAll(async () => {
    demo = await serveDemo()
  })
  afterAll(async () => expect(await demo.end('SIGTERM')).toBe(0))

  const get = (path: string, init?: RequestInit) => fetch(demo.url + path, { redirect: 'manual', ...init })

  /** A visitor of the shop, with a cookie. */
  async function visitor() {
    const first = await get('/shop/basket')
    const cookie = first.headers.getSetCookie()[0]!.split(';')[0]!
    const post = (path: string, body: Record<string, string> | FormData) =>
      get(path, {
        method: 'POST',
        headers: { cookie },
        body: body instanceof FormData ? body : new URLSearchParams(body),
      })
    const read = async (path: string) => (await get(path, { headers: { cookie } })).text()
    return { post, read }
  }

  test('a crawl reads all pages of the manual', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-demo-'))
    const flags = ['-o', join(folder, 'pages'), '--include-paths', '/docs/*', '--limit', '100']
    const { code, stdout, stderr } = await bax(['crawl', `${demo.url}/docs`, '--embedded', '--json', ...flags], {
      env: { BAX_STATE_DIR: join(folder, 'state') },
    })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', completed: 60, errors: [] })
    await rm(folder, { recursive: true })
  })

  test('each page of the manual links only to pages that exist, and has a Markdown version', async () => {
    const index = await (await get('/docs')).text()
    const paths = [...new Set([...index.matchAll(/href="(\/docs\/[\w-]+)"/g)].map(([, path]) => path!))]
    expect(paths).toHaveLength(60)
    const links = new Set<string>()
    for (const path of paths) {
      const html = await (await get(path)).text()
      for (const [, to] of html.matchAll(/href="(\/[^"]*)"/g)) links.add(to!)
      const markdown = await get(`${path}.md`)
      expect(markdown.headers.get('content-type')).toContain('text/markdown')
      expect(await markdown.text()).toMatch(/^# \w/)
    }
    for (const to of links) expect((await get(to)).status, to).toBeLessThan(400)
  })

  test('the search finds pages that have all words', async () => {
    expect(await (await get('/docs/search?q=humidity+shelf')).text()).toContain('shelf add')
    expect(await (await get('/docs/search?q=%3Cb%3Enothing')).text()).toMatch(/&lt;b&gt;nothing.*0 of 60/s)
  })

  test('a basket is ordered after signing in, the invoice downloaded, a picture sent', async () => {
    const { post, read } = await visitor()
    await post('/shop/basket', { tea: 'sencha-asatsuyu', count: '2' })
    await post('/shop/basket', { tea: 'oriental-beauty', count: '1' })
    expect(await read('/shop/basket')).toMatch(/Sencha Asatsuyu.*€29\.80/s)
    const order = { name: 'Ada', address: 'Harbour Street 1', delivery: 'Express', gift: 'yes' }
    expect((await post('/shop/checkout', order)).headers.get('location')).toBe('/shop/login?next=%2Fshop%2Fcheckout')
    expect((await post('/shop/login', { name: 'ada', password: 'wrong' })).status).toBe(401)
    await post('/shop/login', { name: 'ada', password: 'oolong' })
    expect((await post('/shop/checkout', { ...order, delivery: 'By balloon' })).status).toBe(422)
    expect((await post('/shop/checkout', order)).headers.get('location')).toBe('/shop/orders/1')
    expect(await read('/shop/orders/1')).toContain('Express delivery to Ada, Harbour Street 1. Wrapped as a gift.')
    expect(await read('/shop/orders/1/invoice.csv')).toBe(
      '"tea","pieces","price_eur"\r\n"Sencha Asatsuyu","2","29.80"\r\n"total","","29.80"\r\n',
    )
    const form = new FormData()
    form.set('reason', 'Broken')
    form.set('picture', new File(['12345'], 'cup.png', { type: 'image/png' }))
    await post('/shop/orders/1/return', form)
    expect(await read('/shop/orders/1')).toMatch(/Broken. Picture: cup.png,\s+5\s+bytes/)
  })

  test('visitors do not see orders of others, and a login leads only to pages of the site', async () => {
    const { post, read } = await visitor()
    await post('/shop/login', { name: 'ada', password: 'oolong' })
    expect(await read('/shop/orders/1')).toContain('no such order')
    const locationFor = async (next: string) =>
      (await post('/shop/login', { name: 'ada', password: 'oolong', next })).headers.get('location')
    const others = ['//evil.test/', 'https://evil.test/', '/\\evil.test', '/\t/evil.test', '/.//evil.test', '//[', '']
    for (const next of others) expect(await locationFor(next), next).toBe('/shop/orders')
    expect(await locationFor('/\r\n')).toBe('/')
    expect(await locationFor('/shop/checkout?gift=yes#top')).toBe('/shop/checkout?gift=yes')
  })

  test('the table has 500 rows on 20 pages, in the order of a column', async () => {
    const rows = async (query: string) =>
      [...(await (await get(`/readings?${query}`)).text()).matchAll(/<tr>\s*<td>(\d+)/g)].map(([, number]) =>
        Number(number),
      )
    const all = (await Promise.all(Array.from({ length: 20 }, (_, at) => rows(`page=${at + 1}`)))).flat()
    expect(all).toEqual(Array.from({ length: 500 }, (_, at) => at + 1))
    const library = (await Promise.all([1, 2, 3, 4, 5].map((at) => rows(`room=Library&page=${at}`)))).flat()
    expect(library).toEqual(Array.from({ length: 125 }, (_, at) => 4 * at + 3))
    expect((await rows('sort=cups'))[0]).toBe(1)
  })

  test('tasks are kept by the application, and checked', async () => {
    const send = (method: string, path: string, body?: unknown) =>
      get(`/app/api/tasks${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const { id } = (await (await send('POST', '', { title: 'Warm the pot' })).json()) as { id: number }
    expect((await send('PATCH', `/${id}`, { done: true })).status).toBe(200)
    expect((await send('PATCH', `/${id}`, { done: 'yes' })).status).toBe(422)
    expect((await send('POST', '', { title: ' ' })).status).toBe(422)
    expect(await (await send('DELETE', `/${id}`)).json()).toEqual({ id, title: 'Warm the pot', done: true })
    expect((await send('DELETE', `/${id}`)).status).toBe(404)
  })

  test('hard pages are what they say', async () => {
    const statusOf = async (path: string) => (await get(`/hard/${path}`)).status
    expect(
      await Promise.all(
        ['', 'late', 'endless', 'cover', 'dialogs', 'parts', 'hidden', 'slow?secs=0', 'calendar'].map(statusOf),
      ),
    ).toEqual(Array(9).fill(200))
    expect([await statusOf('loop'), await statusOf('error'), await statusOf('gone')]).toEqual([302, 500, 410])
    await expect(get('/hard/cut').then((response) => response.text())).rejects.toThrow('terminated')
  })

  test('a port that is taken, a wrong one and a wrong word are errors', async () => {
    const taken = await bax(['demo', '--port', new URL(demo.url).port])
    expect(taken.code).toBe(3)
    expect(taken.stderr).toMatch(/is in use by another program\n.*--port/)
    for (const port of ['x', '1e3', '0x50', '-1', '65536'])
      expect((await bax(['demo', '--port', port])).stderr).toContain(`--port must be 0 to 65535, not ${port}`)
    const wrong = await bax(['demo', 'tuor'])
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('error: unknown demo command "tuor"\nhint: use `bax demo` or `bax demo tour`')
  })

  test('flags of the tour without it, a tour of another engine, and a folder that cannot exist are refused', async () => {
    const errorOf = async (argv: string[], env = {}) => {
      const { code, stderr } = await bax(['demo', ...argv], { env })
      return `${code} ${stderr}`
    }
    expect(await errorOf(['-o', 'out/'])).toContain('2 error: --output is only for the tour')
    expect(await errorOf(['--headed'])).toContain('2 error: --headed is only for the tour')
    const server = 'http://127.0.0.1:1'
    const refused = `2 error: the tour runs on the local engine, not on ${server}`
    expect(await errorOf(['tour', '--server', server])).toContain(refused)
    expect(await errorOf(['tour'], { BAX_SERVER: server })).toContain(refused)
    expect(await errorOf(['tour', '--embedded'])).toContain('2 error: the tour needs an engine that outlives')
    expect(await errorOf(['tour', '-o', '/proc/none/tour'])).toContain('2 error: cannot write /proc/none/tour')
  })

  test('ends with 130 on SIGINT', async () => {
    expect(await (await serveDemo()).end('SIGINT')).toBe(130)
  })
})
