/** Quotas per key on a real server: sessions, shells, crawls, streams and websockets. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { limits } from '../../src/core/limits/limits.ts'
import { protocol, subprotocol } from '../../src/engine/relay/tunnel/messages.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { nameOf } from '../support/docker.ts'
import { heldPages } from '../support/held-pages.ts'
import { type Answer, request, type RunningServer, serve } from '../support/server.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const held = heldPages()
let built: BuiltBax
let server: RunningServer
let site: Site
let admin: string
/** Keys of the current test. */
let ann: string
let bob: string

beforeAll(async () => {
  ;[built, site] = await Promise.all([buildBax(), serveSite({ '/held': held.page })])
  const stateDir = await built.stateDir()
  admin = (
    await built.run(['key', 'create', 'admin', '--scopes', 'admin', '--embedded', '--state-dir', stateDir])
  ).stdout.trim()
  const quotas = ['sessions', 'shells', 'crawls', 'relays', 'credentials'].flatMap((kind) => [`--max-${kind}`, '2'])
  server = await serve(built, quotas, {
    stateDir,
    env: { BAX_VAULT_KEY: 'a key of sixteen characters' },
  })
})
beforeEach(async () => {
  const makeKey = async (): Promise<string> =>
    (await as(admin, 'POST', '/v1/keys', { name: 'user', scopes: ['browser', 'scrape', 'shell', 'relay'] })).body.key
  ann = await makeKey()
  bob = await makeKey()
})
afterAll(async () => {
  held.release()
  server.child.kill('SIGTERM')
  await server.ended
  await built.close()
  await site.close()
})

const as = (key: string, method: string, path: string, body?: object): Promise<Answer> =>
  request(server.url, method, path, body, { 'x-api-key': key })

/** A resource with a quota of two per key. */
interface Kind {
  readonly things: string
  readonly code: string
  readonly make: (key: string) => Promise<Answer>
  /** Returns the path of the resource that a response describes. */
  readonly path: (made: Answer) => string
  /** Returns whether the resource has ended, by itself or by deletion, which frees its slot. */
  readonly isOver: (record: Answer) => boolean
}

const kinds: Record<string, Kind> = {
  sessions: {
    things: 'browser sessions',
    code: 'too_many_sessions',
    make: (key) => as(key, 'POST', '/sessions', {}),
    path: ({ body }) => `/sessions/${body.session_id}`,
    isOver: ({ body }) => body.status === 'stopped',
  },
  shells: {
    things: 'shell sessions',
    code: 'too_many_sessions',
    make: (key) => as(key, 'POST', '/shell/sessions', { image: busybox.image }),
    path: ({ body }) => `/shell/sessions/${body.session_id}`,
    isOver: ({ body }) => body.status === 'stopped',
  },
  crawls: {
    things: 'crawls',
    code: 'rate_limited',
    make: (key) => as(key, 'POST', '/v1/crawl', { url: `${site.url}/held`, render: 'http', async: true }),
    path: ({ body }) => `/v1/crawl/${body.id}`,
    isOver: ({ body }) => body.status === 'cancelled',
  },
}

describe.each(Object.entries(kinds))('%s', (limit, { things, code, make, path, isOver }) => {
  const absent = limit === 'shells' ? busybox.absent : null
  test.skipIf(absent !== null)(
    `beyond the quota of a key are rejected with Retry-After, for that key only, until one has ended${absent === null ? '' : ` ${nameOf(busybox)}`}`,
    async () => {
      // Concurrently, so that a race would exceed the quota.
      const responses = await Promise.all(Array.from({ length: 4 }, () => make(ann)))
      const made = responses.filter(({ status }) => status < 300)
      const refused = responses.filter(({ status }) => status >= 300)
      expect([made.length, refused.length]).toEqual([2, 2])
      for (const { status, headers, body } of refused) {
        const error = `the limit of 2 ${things} per key is reached`
        expect({ status, body }).toMatchObject({
          status: 429,
          body: { success: false, code, error, details: { limit, most: 2 } },
        })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }
      const others = await make(bob)
      expect(others.status).toBeLessThan(300)

      expect((await as(ann, 'DELETE', path(made[0]!))).status).toBeLessThan(300)
      await waitUntil(async () => isOver(await as(ann, 'GET', path(made[0]!))))
      const next = await make(ann)
      expect(next.status).toBeLessThan(300)
      expect((await make(ann)).status).toBe(429)
      // Rejected requests leave nothing behind, and earlier resources are unaffected.
      for (const one of [made[1]!, next]) expect(isOver(await as(ann, 'GET', path(one)))).toBe(false)
      expect(isOver(await as(bob, 'GET', path(others)))).toBe(false)
    },
  )
})

test('credentials beyond the quota of a key are rejected, for that key only, until one is deleted', async () => {
  const add = (key: string, name: string) =>
    as(key, 'POST', '/credentials', { name, origins: [site.url], password: 'correct horse' })
  // Concurrently, so that a race would exceed the quota.
  const responses = await Promise.all(['a', 'b', 'c', 'd'].map((name) => add(ann, name)))
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429])
  const refused = responses.find(({ status }) => status === 429)!
  const error = 'the limit of 2 credentials per key is reached'
  expect(refused.body).toMatchObject({ code: 'rate_limited', error, details: { limit: 'credentials', most: 2 } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const { credentials } = (await as(ann, 'GET', '/credentials')).body as { credentials: { name: string }[] }
  expect(credentials).toHaveLength(2)
  expect((await add(bob, 'a')).status).toBe(200)
  await as(ann, 'DELETE', `/credentials/${credentials[0]!.name}`)
  expect((await add(ann, 'e')).status).toBe(200)
})

test('a failed creation does not count', async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    const profile_id = '00000000-0000-4000-8000-000000000000'
    expect((await as(bob, 'POST', '/sessions', { profile_id })).status).toBe(404)
  }
  for (let turn = 0; turn < 2; turn += 1) expect((await as(bob, 'POST', '/sessions', {})).status).toBe(200)
})

describe('browsers of users', () => {
  interface Welcome {
    readonly session_id: string
    readonly resume: string
  }
  /** Connects as a connector does; returns the welcome, or the error of the rejected upgrade. */
  const connect = async (credential: string, before?: Welcome) => {
    const query = before ? `?session_id=${before.session_id}` : ''
    const headers = { authorization: `Bearer ${credential}` }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/relay/connect${query}`, subprotocol, { headers })
    const first = await new Promise<{ welcome: Welcome } | { status: number; body: object }>((resolve, reject) => {
      socket.on('error', reject)
      socket.once('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)))
      socket.once('open', () => {
        const browser = { product: 'None/1', protocol_version: '1.3', user_agent: 'none', headless: true }
        socket.send(
          JSON.stringify({
            type: 'hello',
            proto: protocol,
            version: '0',
            platform: 'test',
            name: null,
            policy: 'full',
            redact: true,
            browser,
            ...(before && { resume: before.resume }),
          }),
        )
      })
      socket.once('message', (text) => resolve({ welcome: JSON.parse(String(text)) as Welcome }))
      socket.once('unexpected-response', (_request, response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('end', () =>
          resolve({ status: response.statusCode!, body: JSON.parse(String(Buffer.concat(chunks))) as object }),
        )
      })
    })
    return { socket, ...first }
  }
  const welcomed = (credential: string, before?: Welcome) =>
    connect(credential, before) as Promise<{ socket: WebSocket; welcome: Welcome }>
  const tokenOf = async (key: string, single_use: boolean): Promise<string> =>
    (await as(key, 'POST', '/relay/tokens', { single_use })).body.token

  test('beyond the quota of a key are rejected, also with its tokens, until one has ended', async () => {
    const first = await welcomed(ann)
    const second = await welcomed(await tokenOf(ann, false))
    const single = await tokenOf(ann, true)
    for (const credential of [ann, single, await tokenOf(ann, false)]) {
      const error = 'the limit of 2 relays per key is reached'
      expect(await connect(credential)).toMatchObject({
        status: 429,
        body: { code: 'too_many_sessions', error, details: { limit: 'relays', most: 2 } },
      })
    }
    expect((await welcomed(bob)).welcome.session_id).toMatch(/^rly_/)
    // A connector whose connection is lost has its session until it is back.
    first.socket.terminate()
    const path = `/relay/sessions/${first.welcome.session_id}`
    await waitUntil(async () => (await as(ann, 'GET', path)).body.status === 'reconnecting')
    expect(await connect(single)).toMatchObject({ status: 429 })
    const again = await welcomed(ann, first.welcome)
    expect(again.welcome.session_id).toBe(first.welcome.session_id)

    const ended = as(ann, 'DELETE', `/relay/sessions/${second.welcome.session_id}`)
    expect((await ended).status).toBeLessThan(300)
    let next: Awaited<ReturnType<typeof connect>>
    // The end of a relay is reported to a fleet in the background.
    await waitUntil(async () => 'welcome' in (next = await connect(single)))
    expect((await as(ann, 'GET', '/relay/sessions')).body.sessions).toHaveLength(2)
    for (const { socket } of [again, next!]) socket.terminate()
  })
})

describe('connections of a key', () => {
  const { ofKey } = limits.openEnds
  let id: string
  beforeEach(async () => {
    id = (await as(bob, 'POST', '/sessions', {})).body.session_id
  })

  test('limit the number of streams; closing one allows another', async () => {
    const follow = async (key: string) => {
      const stop = new AbortController()
      const { status } = await fetch(`${server.url}/stream/sse?session_id=${id}`, {
        headers: { 'x-api-key': key },
        signal: stop.signal,
      })
      return { status, stop }
    }
    const streams = await Promise.all(Array.from({ length: ofKey }, () => follow(bob)))
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await as(bob, 'GET', `/stream/sse?session_id=${id}`)
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', error: `one key may have ${ofKey} streams open at a time` },
    })
    // Other calls and other keys are not affected.
    expect((await as(bob, 'GET', `/sessions/${id}`)).status).toBe(200)
    expect((await follow(ann)).status).toBe(404)
    streams[0]!.stop.abort()
    await waitUntil(async () => (await follow(bob)).status === 200)
    for (const { stop } of streams) stop.abort()
    // A HEAD request does not count as a stream.
    const heads = Array.from({ length: 2 * ofKey }, () =>
      fetch(`${server.url}/stream/sse?session_id=${id}`, { method: 'HEAD', headers: { 'x-api-key': bob } }),
    )
    await Promise.all(heads)
    await waitUntil(async () => (await follow(bob)).status === 200)
  })

  test('limit the number of websockets, which are rejected before they open', async () => {
    const connect = (key: string) =>
      new Promise<{ socket: WebSocket; status: number }>((resolve) => {
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/sessions/${id}/live`, {
          headers: { 'x-api-key': key },
        })
        socket.on('error', () => {})
        socket.once('open', () => resolve({ socket, status: 101 }))
        socket.once('unexpected-response', (_request, { statusCode }) => resolve({ socket, status: statusCode! }))
      })
    const all = await Promise.all(Array.from({ length: ofKey + 5 }, () => connect(bob)))
    expect(all.filter(({ status }) => status === 101)).toHaveLength(ofKey)
    expect(all.filter(({ status }) => status === 429)).toHaveLength(5)
    expect((await connect(ann)).status).toBe(404)
    for (const { socket } of all) socket.terminate()
    await waitUntil(async () => (await connect(bob)).status === 101)
  })
})
