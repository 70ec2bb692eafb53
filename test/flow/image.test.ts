/** `bax serve` in its image with two keys, used from outside its container. */
import { chromium } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type HeldPage, heldPages } from '../support/held-pages.ts'
import { docker, type ImagedServer, noServerImage, serverImage } from '../support/server-image.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitFor } from '../support/wait.ts'

const absent = await noServerImage()

/** Includes building the Debian base of the image, and a start on a busy machine. */
const builtWithinMs = 1_200_000

let server: ImagedServer
let site: Site
let held: HeldPage
let admin: string
/** Keys of one test: what others have created is invisible to it. */
let ann: string
let bob: string

beforeAll(async () => {
  if (absent !== null) return
  held = heldPages()
  server = await serverImage()
  const page = (title: string, links: string) =>
    `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>Some words of this page.</p>${links}</main>`
  const pages = {
    '/': page('Home', '<a href="/drawn">Drawn</a> <button onclick="document.title = \'Bought\'">Buy</button>'),
    '/drawn': page('Drawn', '<p id="late"></p><script>late.textContent = "written by " + "a script"</script>'),
    '/held': held.page,
  }
  site = await serveSite(pages, server.gateway)
  admin = await server.makeKey('admin', 'admin')
  await server.run('--allow-private', server.gateway)
}, builtWithinMs)
afterAll(async () => {
  held?.release()
  await server?.close()
  await site?.close()
})

const createKey = async (name: string): Promise<string> => {
  const { status, body } = await server.request(admin, 'POST', '/v1/keys', { name, scopes: ['browser', 'scrape'] })
  expect(status).toBe(200)
  return body.key
}

/** Creates a session, a crawl and a profile of ann, and returns their IDs. */
const createObjects = async () => {
  const session = await server.request(ann, 'POST', '/sessions', { requested_name: 'shop', start_url: `${site.url}/` })
  const crawl = await server.request(ann, 'POST', '/v1/crawl', { url: `${site.url}/` })
  const { session_id } = session.body
  const profile = await server.request(ann, 'POST', '/profiles', { name: 'ann', session_id })
  expect([session.status, crawl.status, profile.status]).toEqual([200, 200, 200])
  return { session: session_id, crawl: crawl.body.id, profile: profile.body.profile_id }
}

/** Returns the processes of the container. */
async function processes(): Promise<{ user: string; pid: string; parent: string; line: string }[]> {
  const rows = (await docker('top', server.container, '-eo', 'user,pid,ppid,args')).split('\n').slice(1)
  return rows.map((row) => {
    const [user, pid, parent, ...line] = row.trim().split(/\s+/)
    return { user: user!, pid: pid!, parent: parent!, line: line.join(' ') }
  })
}

const state = (field: string) => docker('inspect', '--format', `{{.State.${field}}}`, server.container)

describe.skipIf(absent !== null)(`the server in its image${absent === null ? '' : `: ${absent}`}`, () => {
  beforeEach(async () => {
    ann = await createKey('ann')
    bob = await createKey('bob')
  })

  test('accepts its keys only', async () => {
    for (const key of [null, 'bax_wrong'])
      expect(await server.request(key, 'GET', '/sessions')).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      })
    for (const key of [ann, bob])
      expect(await server.request(key, 'GET', '/sessions')).toMatchObject({ status: 200, body: { total: 0 } })
    expect((await server.request(ann, 'GET', '/v1/keys')).status).toBe(403)
  })

  test('scrapes a page over HTTP and one in its browser, and crawls', async () => {
    const scrape = async (path: string, render: string) =>
      (await server.request(bob, 'POST', '/v1/scrape', { url: site.url + path, render })).body
    expect(await scrape('/', 'http')).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
    const drawn = await scrape('/drawn', 'browser')
    expect(drawn.data.markdown).toContain('written by a script')
    const { body } = await server.request(bob, 'POST', '/v1/crawl', { url: `${site.url}/` })
    expect(body).toMatchObject({ success: true, status: 'completed', total: 2, completed: 2, errors: [] })
  })

  test('reaches only the private addresses that are allowed', async () => {
    const [, , third] = server.gateway.split('.')
    for (const url of ['http://127.0.0.1:4100/healthz', 'http://169.254.169.254/', `http://172.31.${third}.250/`])
      for (const render of ['http', 'browser'])
        expect(await server.request(ann, 'POST', '/v1/scrape', { url, render })).toMatchObject({
          status: 403,
          body: { code: 'url_blocked' },
        })
  })

  test('runs commands and a CDP client on a session, both from outside', async () => {
    const { session } = await createObjects()
    const commands = [{ command: 'click', data: { selector: 'button' } }, { command: 'get_title' }]
    const { body } = await server.request(ann, 'POST', '/commands', { session_id: session, commands })
    expect(body).toMatchObject({ success: true, results: [{}, { data: { result: { value: 'Bought' } } }] })
    const { cdp_url } = (await server.request(ann, 'GET', `/sessions/${session}`)).body
    expect(new URL(cdp_url).host).toBe(new URL(server.url()).host)
    await expect(chromium.connectOverCDP(cdp_url, { headers: { 'x-api-key': bob } })).rejects.toThrow('404')
    const browser = await chromium.connectOverCDP(cdp_url, { headers: { 'x-api-key': ann } })
    try {
      const [page] = browser.contexts()[0]!.pages()
      expect(await page!.title()).toBe('Bought')
      await page!.goto(`${site.url}/drawn`)
      expect(await page!.textContent('#late')).toBe('written by a script')
    } finally {
      await browser.close()
    }
    expect((await server.request(ann, 'GET', `/sessions/${session}`)).body).toMatchObject({
      status: 'ready',
      url: `${site.url}/drawn`,
    })
  })

  test('opens a session with disable_automation_detection', async () => {
    const { status, body } = await server.request(ann, 'POST', '/sessions', {
      disable_automation_detection: true,
      start_url: `${site.url}/`,
    })
    expect([status, body]).toEqual([200, expect.objectContaining({ session_id: expect.any(String) })])
    const commands = [
      { command: 'evaluate', data: { expression: '[navigator.webdriver, navigator.plugins.length > 0]' } },
    ]
    const ran = await server.request(ann, 'POST', '/commands', { session_id: body.session_id, commands })
    expect(ran.body).toMatchObject({ success: true, results: [{ data: { result: { value: [false, true] } } }] })
    expect((await server.request(ann, 'DELETE', `/sessions/${body.session_id}`)).status).toBe(204)
  })

  test('hides everything of one key from the other', async () => {
    const { session, crawl, profile } = await createObjects()
    for (const path of [`/sessions/${session}`, '/sessions/shop', `/v1/crawl/${crawl}`, `/profiles/${profile}`]) {
      const { status, body } = await server.request(bob, 'GET', path)
      expect([path, status]).toEqual([path, 404])
      expect(body.code).toMatch(/_not_found$/)
    }
    const commands = [{ command: 'get_title' }]
    expect((await server.request(bob, 'POST', '/commands', { session_id: session, commands })).status).toBe(404)
    for (const list of ['/sessions?status=all', '/profiles'])
      expect((await server.request(bob, 'GET', list)).body.total).toBe(0)
    // A name used by one key is free for the other.
    const own = await server.request(bob, 'POST', '/sessions', { requested_name: 'shop' })
    expect((await server.request(bob, 'GET', '/sessions/shop')).body.session_id).toBe(own.body.session_id)
    expect((await server.request(bob, 'DELETE', '/sessions/shop')).status).toBe(204)
  })

  test('runs its browsers in the sandbox, as an unprivileged user, and leaves no process behind', async () => {
    // Without the browsers of other tests.
    await docker('stop', '--time', '30', server.container)
    await server.restart()
    for (const input of [{}, { disable_automation_detection: true }]) {
      const { status, body } = await server.request(ann, 'POST', '/sessions', input)
      expect(status).toBe(200)
      expect((await server.request(ann, 'DELETE', `/sessions/${body.session_id}`)).status).toBe(204)
    }
    const drawn = { url: `${site.url}/drawn`, render: 'browser' }
    expect((await server.request(ann, 'POST', '/v1/scrape', drawn)).body).toMatchObject({ success: true })
    // Processes of a session that was just closed end shortly after.
    const zombies = async () => (await processes()).filter(({ line }) => line.includes('defunct'))
    await expect.poll(zombies).toEqual([])
    const all = await processes()
    expect(new Set(all.map(({ user }) => user))).toEqual(new Set(['10001']))
    expect(all.some(({ line }) => line.includes('--type=zygote'))).toBe(true)
    expect(all.map(({ line }) => line).join('\n')).not.toContain('--no-sandbox')
    // An orphan would be a child of the first process, whose only child is bax.
    const first = all.find(({ line }) => /\btini\b/.test(line))!
    // The crash reporters of a full Chromium are detached from it, and end with it.
    const isReporter = ({ line }: { line: string }) => line.includes('chrome_crashpad_handler')
    expect(all.filter(isReporter).map(({ line }) => line)).toEqual([
      expect.stringContaining('--database=/tmp/bax-browser-'),
      expect.stringContaining('--database=/tmp/bax-browser-'),
    ])
    const children = all.filter((child) => child.parent === first.pid && !isReporter(child))
    expect(children.map(({ line }) => line)).toEqual([expect.stringMatching(/^node .*\bbax serve /)])
  })

  describe('stopped', () => {
    afterAll(() => server.restart())

    test('finishes running work at SIGTERM, rejects new work, and restarts with its keys, profiles and crawls', async () => {
      const { session, crawl, profile } = await createObjects()
      const running = server.request(ann, 'POST', '/v1/scrape', { url: `${site.url}/held`, render: 'http' })
      await held.requested()
      await docker('kill', '--signal', 'TERM', server.container)
      // The signal arrives after a moment.
      const refused = await waitFor('the server to end', async () => {
        const answer = await server.request(ann, 'POST', '/v1/scrape', { url: `${site.url}/` })
        return answer.status === 200 ? undefined : answer
      })
      expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      held.release()
      expect((await running).body).toMatchObject({ success: true, data: { metadata: { title: 'Held' } } })
      expect(await docker('wait', server.container)).toBe('0')
      expect(await state('OOMKilled')).toBe('false')
      await server.restart()
      const commands = [{ command: 'get_title' }]
      const ended = async (session_id: string) =>
        await server.request(ann, 'POST', '/commands', { session_id, commands })
      expect(await ended(session)).toMatchObject({ status: 410, body: { details: { reason: 'engine_closed' } } })
      expect((await server.request(ann, 'GET', `/v1/crawl/${crawl}`)).body).toMatchObject({
        status: 'completed',
        completed: 2,
      })
      expect((await server.request(bob, 'GET', `/v1/crawl/${crawl}`)).status).toBe(404)
      const next = await server.request(ann, 'POST', '/sessions', { profile_id: profile, requested_name: 'shop' })
      expect(next.status).toBe(200)
      expect((await server.request(ann, 'GET', '/sessions/shop')).body).toMatchObject({
        status: 'ready',
        profile_id: profile,
      })
      // Each start of the container reuses the process IDs: the engine still recognizes the previous one.
      await docker('kill', server.container)
      await server.restart()
      expect(await ended(next.body.session_id)).toMatchObject({
        status: 410,
        body: { details: { reason: 'worker_lost' } },
      })
      expect(await ended(session)).toMatchObject({ status: 410, body: { details: { reason: 'engine_closed' } } })
      expect((await server.request(bob, 'POST', '/sessions', {})).status).toBe(200)
      await docker('stop', '--time', '30', server.container)
      expect(await state('ExitCode')).toBe('0')
    })
  })
})
