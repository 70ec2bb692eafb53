import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { follow } from '../../src/client/client.ts'
import type { Client } from '../support/client.ts'
import { heldPages } from '../support/held-pages.ts'
import { homeNames, type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { failureOf, isRunning, open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
const held = heldPages()

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes({ pool: { contextsPerBrowser: 60 } }),
    serveSite({
      '/': '<title>Home</title>',
      '/second': '<title>Second</title>',
      '/held': held.page,
      '/shop': `<title>Shop</title><button>Order</button><script>
        const post = (path) => fetch(path, { method: 'POST' })
        document.querySelector('button').onclick = () => setTimeout(() => post('/stock').then(() => post('/order')), Number(location.search.slice(1)))
      </script>`,
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const hang = { command: 'evaluate', data: { expression: 'new Promise(() => {})' } }
const title = { command: 'get_title' }

describe.each(usualHomes)('lifecycle of a session (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  const create = async (input: Parameters<Client['createSession']>[0] = {}): Promise<string> =>
    (await client().createSession({ headless: true, ...input })).session_id!
  /** Resolves when a command of the session has started. */
  const started = async (session_id: string) => {
    for await (const { type } of follow(homes.transports[home], 'GET /stream/sse', { session_id, replay: 'all' })) {
      if (type === 'command.started') return
    }
  }
  const record = (session_id: string) => client().getSession({ session_id })
  afterEach(async () => {
    const { sessions } = await client().listSessions({})
    await Promise.all(sessions.map(({ session_id }) => client().closeSession({ session_id })))
  })

  test('lists live sessions, newest first, with URL and title', async () => {
    const first = await create({ start_url: site.url })
    const second = await create()
    const { sessions, total } = await client().listSessions({})
    expect(total).toBe(2)
    expect(sessions.map(({ session_id }) => session_id)).toEqual([second, first])
    expect(sessions[1]).toMatchObject({ url: `${site.url}/`, title: 'Home', status: 'ready' })
    await open(client(), first, `${site.url}/second`)
    // Listing does not wait for the titles of slow pages.
    await expect.poll(async () => (await record(first)).title).toBe('Second')
    expect(await record(first)).toMatchObject({ url: `${site.url}/second`, commands_run: 1 })
    await valueOf(client(), first, 'document.title = "Changed"')
    await expect.poll(async () => (await record(first)).title).toBe('Changed')
  })

  test('returns the record of an ended session, 410 for commands and 204 for another close', async () => {
    const id = await create({ requested_name: 'ends', start_url: site.url })
    await client().closeSession({ session_id: 'ends' })
    const ended = await record(id)
    expect(ended).toMatchObject({ status: 'stopped', end_reason: 'deleted', title: 'Home', tabs: 0, name: 'ends' })
    expect(Date.parse(ended.ended_at!)).toBeGreaterThanOrEqual(Date.parse(ended.created_at))
    const error = await failureOf(client().runCommands({ session_id: id, commands: [title] }))
    expect(error).toMatchObject({ code: 'session_closed', status: 410, details: { reason: 'deleted' } })
    await client().closeSession({ session_id: id })
    const live = await client().listSessions({})
    expect(live.sessions.some(({ session_id }) => session_id === id)).toBe(false)
    const all = await client().listSessions({ status: 'all' })
    expect(all.sessions.some(({ session_id }) => session_id === id)).toBe(true)
    const stopped = await client().listSessions({ status: 'stopped' })
    expect(stopped.sessions.every(({ status }) => status === 'stopped')).toBe(true)
  })

  test.each(['getSession', 'closeSession'] as const)('%s returns 404 for an unknown session', async (name) => {
    expect(await failureOf(client()[name]({ session_id: 'ses_unknown' }))).toMatchObject({
      code: 'session_not_found',
      status: 404,
    })
  })

  test('ends after the idle timeout, which commands restart', async () => {
    const id = await create({ start_url: site.url, idle_timeout_secs: 3 })
    const running = valueOf(client(), id, `fetch('/held').then(() => 1)`)
    await held.requested()
    const requestedAt = Date.now()
    await waitUntil(() => Date.now() > requestedAt + 3500)
    expect((await record(id)).status).toBe('ready')
    const releasedAt = Date.now()
    held.release()
    await running
    await waitUntil(async () => (await record(id)).end_reason === 'idle_timeout')
    expect(Date.parse((await record(id)).ended_at!)).toBeGreaterThanOrEqual(releasedAt + 3000)
  })

  test('ends after its maximum lifetime, and announces it', async () => {
    const id = await create({ timeout_secs: 3, keep_alive: true })
    const seen: string[] = []
    for await (const { type } of follow(homes.transports[home], 'GET /stream/sse', { session_id: id, replay: 'all' })) {
      seen.push(type)
    }
    expect(seen.indexOf('session.expiring')).toBeGreaterThanOrEqual(0)
    expect(seen.at(-1)).toBe('session.closed')
    expect(await record(id)).toMatchObject({ status: 'stopped', end_reason: 'lifetime' })
  })

  test('runs batches of one session in order, one at a time', async () => {
    const id = await create({ start_url: site.url })
    const batch = (value: number, ms: number) =>
      client().runCommands({
        session_id: id,
        commands: [
          {
            command: 'evaluate',
            data: {
              expression: `new Promise((done) => setTimeout(done, ${ms})).then(() => (window.order ??= []).push(${value}))`,
            },
          },
        ],
      })
    const first = batch(1, 300)
    await started(id)
    await Promise.all([first, batch(2, 100), batch(3, 0)])
    expect(await valueOf(client(), id, 'window.order')).toEqual([1, 2, 3])
  })

  test('rejects more than 32 queued batches, and runs the others', async () => {
    const id = await create({ start_url: site.url })
    const evaluate = (expression: string) =>
      client().runCommands({ session_id: id, commands: [{ command: 'evaluate', data: { expression } }] })
    const first = evaluate(`fetch('/held').then(() => 1)`)
    await held.requested()
    const refused: string[] = []
    const onRefused = ({ code }: { code: string }) => void refused.push(code)
    const others = Array.from({ length: 35 }, () => evaluate('1').catch(onRefused))
    await waitUntil(() => refused.length === 3)
    held.release()
    await Promise.all([first, ...others])
    expect(refused).toEqual(['rate_limited', 'rate_limited', 'rate_limited'])
    expect((await record(id)).commands_run).toBe(33)
  })

  test('aborts a running batch when the session is closed', async () => {
    const id = await create()
    const running = client().runCommands({ session_id: id, commands: [hang, title] })
    const waiting = failureOf(client().runCommands({ session_id: id, commands: [title] }))
    await started(id)
    await client().closeSession({ session_id: id })
    const result = await running
    expect(result).toMatchObject({ success: false, code: 'session_closed', steps_completed: 0 })
    expect(result.results[1]).toMatchObject({ skipped: true })
    expect(await waiting).toMatchObject({ code: 'session_closed' })
  })

  test.each([0, 50])('sends what a click has caused %i ms later before the session is closed', async (ms) => {
    const orders = () => site.requests.filter((path) => path === '/order').length
    const before = orders()
    for (let round = 1; round <= 5; round++) {
      const id = await create({ start_url: `${site.url}/shop?${ms}` })
      await client().runCommands({
        session_id: id,
        commands: [{ command: 'click', data: { selector: 'button' } }, title],
      })
      await client().closeSession({ session_id: id })
      expect(orders() - before).toBe(round)
    }
  })

  test('sends what a click has caused before the engine ends', async () => {
    const orders = () => site.requests.filter((path) => path === '/order').length
    const before = orders()
    const own = await openHomes()
    const { session_id } = await own.clients[home].createSession({ start_url: `${site.url}/shop?50` })
    await own.clients[home].runCommands({
      session_id: session_id!,
      commands: [{ command: 'click', data: { selector: 'button' } }],
    })
    await own.close()
    expect(orders()).toBe(before + 1)
  })

  test('does not wait for requests without a response when the session is closed', async () => {
    const id = await create({ start_url: `${site.url}/shop` })
    await valueOf(client(), id, `document.querySelector('button').onclick = () => void fetch('/held')`)
    await client().runCommands({ session_id: id, commands: [{ command: 'click', data: { selector: 'button' } }] })
    await client().closeSession({ session_id: id })
    expect(await record(id)).toMatchObject({ status: 'stopped', end_reason: 'deleted' })
  })

  test('cancels the batch of a disconnected caller, but not the session', async () => {
    const id = await create()
    const controller = new AbortController()
    const call = client().runCommands({ session_id: id, commands: [hang] }, { signal: controller.signal })
    await started(id)
    controller.abort()
    await call.catch(() => {})
    // The next batch only runs after the hanging one has ended.
    expect(await valueOf(client(), id, '6 * 7')).toBe(42)
    expect((await record(id)).status).toBe('ready')
  })

  test('creates a session for a batch without session ID', async () => {
    const result = await client().runCommands({
      commands: [{ command: 'navigate_to', data: { url: site.url } }, title],
    })
    expect(result).toMatchObject({ success: true, steps_completed: 2 })
    expect(await record(result.session_id)).toMatchObject({ status: 'ready', title: 'Home', commands_run: 2 })
  })
})

describe('many sessions', () => {
  test('leave no context, process or folder after fifty are created, used and closed', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'bax-test-tmp-'))
    vi.stubEnv('TMPDIR', temporary)
    const own = await openHomes({ pool: { contextsPerBrowser: 25, browsers: 2 } })
    try {
      const clients = homeNames.map((name) => own.clients[name])
      const ids: string[] = []
      for (let at = 0; at < 50; at += 5) {
        const made = await Promise.all(
          Array.from({ length: 5 }, (_, offset) => {
            const client = clients[(at + offset) % 3]!
            return client.runCommands({ commands: [{ command: 'navigate_to', data: { url: site.url } }, title] })
          }),
        )
        expect(made.every(({ success }) => success)).toBe(true)
        ids.push(...made.map(({ session_id }) => session_id))
      }
      const full = await own.clients.http.getEngineStatus({})
      expect(full.sessions).toBe(50)
      await Promise.all(ids.map((session_id, at) => clients[at % 3]!.closeSession({ session_id })))
      const empty = await own.clients.http.getEngineStatus({})
      expect(empty.sessions).toBe(0)
      expect(empty.browsers.map(({ sessions }) => sessions)).toEqual(empty.browsers.map(() => 0))
      await own.close()
      expect(full.browsers.map(({ pid }) => pid).filter(isRunning)).toEqual([])
      expect(await readdir(temporary)).toEqual([])
    } finally {
      await own.close()
      vi.unstubAllEnvs()
      await rm(temporary, { recursive: true, force: true })
    }
  })
})
