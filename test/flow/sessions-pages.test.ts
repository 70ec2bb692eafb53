import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { command, failureOf, open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<title>Home</title><a id="pop" href="/popup" target="_blank">popup</a><a id="get" href="/file">file</a>',
      '/popup': '<title>Popup</title>',
      '/leaving':
        '<title>Leaving</title><button>x</button><script>onbeforeunload = (event) => event.preventDefault()</script>',
      '/noisy': `<title>Noisy</title><img src="/missing.png"><script>
        console.warn('careful', 42)
        fetch('http://127.0.0.1:1/').catch(() => {})
        setTimeout(() => { throw new Error('thrown by the page') })
      </script>`,
      '/file': (_, response) => {
        response.setHeader('content-disposition', 'attachment; filename="../re port.txt"')
        response.end('the content')
      },
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

interface Event {
  readonly seq: number
  readonly type: string
  readonly data: Record<string, unknown>
}

describe.each(usualHomes)('pages of a session (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  let id: string
  const start = async (path: string) => {
    id = (await client().createSession({ headless: true, start_url: site.url + path })).session_id!
  }
  afterEach(() => client().closeSession({ session_id: id }))
  const click = (selector: string) =>
    client().runCommands({ session_id: id, commands: [{ command: 'click', data: { selector } }] })
  const record = () => client().getSession({ session_id: id })
  /** Returns the events up to the first that matches. */
  const eventsUntil = async (fits: (event: Event) => boolean): Promise<Event[]> => {
    const seen: Event[] = []
    for await (const event of follow(homes.transports[home], 'GET /stream/sse', { session_id: id, replay: 'all' })) {
      seen.push(event as never)
      if (fits(event as never)) break
    }
    return seen
  }

  test('a session can be used, and closed, while its page is starting', async () => {
    // More than there are warm pages.
    const options = { headless: true, viewport: { width: 640, height: 480 } }
    const created = await Promise.all(Array.from({ length: 6 }, () => client().createSession(options)))
    const [unused, ...used] = created.map(({ session_id }) => session_id!)
    await client().closeSession({ session_id: unused! })
    const tabs = await Promise.all(
      used.map(async (session_id) => {
        const { tabs: count } = await client().getSession({ session_id })
        const { results } = await client().runCommands({ session_id, commands: [command('list_tabs')] })
        return [count, (results[0]!.data!['result'] as { value: unknown[] }).value.length]
      }),
    )
    expect(tabs).toEqual(used.map(() => [1, 1]))
    id = used.pop()!
    expect(await valueOf(client(), id, '[innerWidth, innerHeight]')).toEqual([640, 480])
    await Promise.all(used.map((session_id) => client().closeSession({ session_id })))
    await client().runCommands({ session_id: id, commands: [command('new_tab')] })
    const events = await eventsUntil(({ type }) => type === 'tab.opened')
    expect(events.at(-1)!.data).toMatchObject({ tabs: 2 })
  })

  test('answers dialogs at once: accepts alerts, dismisses confirms and prompts', async () => {
    await start('/')
    expect(await valueOf(client(), id, `[alert('hello'), confirm('sure?'), prompt('name?', 'x')]`)).toEqual([
      null,
      false,
      null,
    ])
    const seen = await eventsUntil(({ type, data }) => type === 'dialog.closed' && data['kind'] === 'prompt')
    const dialogs = seen.filter(({ type }) => type.startsWith('dialog.'))
    expect(dialogs.map(({ type, data }) => [type, data['kind'], data['accepted']])).toEqual([
      ['dialog.opened', 'alert', undefined],
      ['dialog.closed', 'alert', true],
      ['dialog.opened', 'confirm', undefined],
      ['dialog.closed', 'confirm', false],
      ['dialog.opened', 'prompt', undefined],
      ['dialog.closed', 'prompt', false],
    ])
    expect(dialogs[0]!.data['message']).toBe('hello')
  })

  test('navigates away from a page with a beforeunload dialog', async () => {
    await start('/leaving')
    await click('button')
    expect(await open(client(), id, site.url)).toMatchObject({ success: true })
    expect((await record()).title).toBe('Home')
  })

  test('activates a new tab, and the previous one when it closes', async () => {
    await start('/')
    await click('#pop')
    await waitUntil(async () => (await record()).title === 'Popup')
    expect(await record()).toMatchObject({ tabs: 2, url: `${site.url}/popup` })
    expect(await valueOf(client(), id, 'document.title')).toBe('Popup')
    await client().runCommands({
      session_id: id,
      commands: [{ command: 'evaluate', data: { expression: 'void setTimeout(close)' } }],
    })
    await waitUntil(async () => (await record()).tabs === 1)
    expect(await valueOf(client(), id, 'document.title')).toBe('Home')
    const seen = await eventsUntil(({ type }) => type === 'tab.closed')
    expect(seen.filter(({ type }) => type.startsWith('tab.')).map(({ type, data }) => [type, data['tabs']])).toEqual([
      ['tab.opened', 2],
      ['tab.closed', 1],
    ])
  })

  test('opens a new tab for the next command when the last one is closed', async () => {
    // A page may only close itself if it has no history.
    id = (await client().createSession({ headless: true })).session_id!
    await client().runCommands({
      session_id: id,
      commands: [{ command: 'evaluate', data: { expression: 'void setTimeout(close)' } }],
    })
    await waitUntil(async () => (await record()).tabs === 0)
    expect(await valueOf(client(), id, 'location.href')).toBe('about:blank')
  })

  test('stores a download in the folder of the session under a safe name', async () => {
    await start('/')
    await click('#get')
    const finished = (await eventsUntil(({ type }) => type === 'download.finished')).at(-1)!
    expect(finished.data).toMatchObject({ success: true, url: `${site.url}/file`, bytes: 11 })
    const path = finished.data['path'] as string
    expect(path).toMatch(/\/downloads\/ses_[\w-]+\/[^/]+$/)
    expect(await readFile(path, 'utf8')).toBe('the content')
    await click('#get')
    const files: unknown[] = []
    await eventsUntil(({ type, data }) => type === 'download.finished' && files.push(data['path']) === 2)
    expect(new Set(files).size).toBe(2)
    await client().closeSession({ session_id: id })
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('emits page events with consecutive numbers', async () => {
    await start('/')
    await open(client(), id, `${site.url}/noisy`)
    const expectedTypes = new Set(['console', 'page.error', 'network.failed', 'page.loaded'])
    let noisy = false
    const seen = await eventsUntil(({ type, data }) => {
      noisy ||= data['url'] === `${site.url}/noisy`
      if (noisy) expectedTypes.delete(type)
      return expectedTypes.size === 0
    })
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1))
    const data = (type: string) => seen.filter((event) => event.type === type).map((event) => event.data)
    expect(data('console')).toContainEqual(expect.objectContaining({ level: 'warning', text: 'careful 42' }))
    expect(data('page.error')).toContainEqual(expect.objectContaining({ message: 'thrown by the page' }))
    expect(data('page.navigated')).toContainEqual(expect.objectContaining({ url: `${site.url}/noisy` }))
    expect(data('network.request')).toContainEqual(
      expect.objectContaining({ url: `${site.url}/noisy`, method: 'GET', resource_type: 'document' }),
    )
    expect(data('network.response')).toContainEqual(expect.objectContaining({ url: `${site.url}/noisy`, status: 200 }))
    expect(data('network.failed')).toContainEqual(
      expect.objectContaining({ url: 'http://127.0.0.1:1/', error: expect.stringContaining('ERR_') }),
    )
  })

  test('streams new events of the selected types with the token of the session', async () => {
    const created = await client().createSession({ headless: true })
    id = created.session_id!
    const request = { session_id: id, token: created.frame_token!, types: 'page.loaded', replay: 'all' }
    const reading = (async () => {
      for await (const frame of follow(homes.transports[home], 'GET /stream/sse', request)) return frame
    })()
    await open(client(), id, `${site.url}/popup`)
    expect(await reading).toMatchObject({ type: 'page.loaded', data: { url: `${site.url}/popup` } })
    const wrong = follow(homes.transports[home], 'GET /stream/sse', { session_id: id, token: 'ft_wrong' })
    expect(await failureOf(wrong.next())).toMatchObject({ code: 'unauthorized', status: 401 })
  })
})

describe('files that commands write', () => {
  test('stay inside the download folder of the session if writeAnywhere is off', async () => {
    const own = await openHomes({ writeAnywhere: false })
    const outside = await mkdtemp(join(tmpdir(), 'bax-test-out-'))
    try {
      const { session_id } = await own.clients.http.createSession({ headless: true })
      const shoot = async (path: string) => {
        const { results } = await own.clients.http.runCommands({
          session_id: session_id!,
          commands: [{ command: 'screenshot', data: { full_page: false, path } }],
        })
        return results[0]!
      }
      for (const path of [join(outside, 'x.png'), '../../x.png', '..']) {
        expect(await shoot(path)).toMatchObject({ success: false, code: 'invalid_data' })
      }
      // Responses of a server have no paths of its machine.
      expect(await shoot('shots/one.png')).toMatchObject({ success: true, data: { path: 'shots/one.png' } })
    } finally {
      await own.close()
      await rm(outside, { recursive: true, force: true })
    }
  })
})
