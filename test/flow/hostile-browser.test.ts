/** Endpoints at `cdp_url` that are not browsers or violate the protocol: they only affect their own session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStream } from '../../src/client/client.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type FakeBrowser, type Message, startFakeBrowser } from '../support/fake-browser.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { freePort } from '../support/ports.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serve } from '../support/server.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let real: ForeignBrowser

beforeAll(async () => {
  ;[homes, real] = await Promise.all([openHomes(), startForeignBrowser()])
})
afterAll(async () => {
  await homes?.close()
  await real?.close()
})

const client = () => homes.clients.http

/** Checks that the engine responds, and creates sessions on regular browsers. */
async function expectWorkingEngine() {
  const { session_id: id } = await client().createSession({ cdp_url: real.url })
  expect(await valueOf(client(), id!, '1 + 1')).toBe(2)
  await client().closeSession({ session_id: id! })
}

const nonsense: readonly [string, Message][] = [
  ['no JSON', 'x'],
  ['null', 'null'],
  ['a list', '[]'],
  ['bytes', Buffer.from([0, 255, 1])],
  ['an answer that is none', '{"id":1,"result":"x"}'],
  ['an error that is none', '{"id":1,"error":"x"}'],
  ['an event without its parts', '{"method":"Target.attachedToTarget"}'],
  ['a target of no kind', '{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":null}}'],
  ['a session of no name', '{"method":"Page.loadEventFired","sessionId":{}}'],
]

/** Messages that are too long or have too many values. */
const excessive: readonly [string, () => Message][] = [
  ['too long', () => Buffer.alloc(limits.cdp.foreignBytes + 1, 'x')],
  ['too many values', () => `{"method":"A.b","params":{"list":[${'1,'.repeat(limits.cdp.messageValues)}1]}}`],
]

test.each(excessive)(
  'an endpoint that sends a message with %s loses its session, which reports why',
  async (_, message) => {
    const fake = await startFakeBrowser({ behind: real.url })
    const { session_id } = await client().createSession({ cdp_url: fake.url })
    const query = { session_id: session_id!, types: 'error', replay: 'all' }
    // Opened before: the stream of an ended session is empty.
    const frames = await openStream(homes.transports.http, 'GET /stream/sse', query)
    fake.send(message())
    const seen: unknown[] = []
    for await (const frame of frames!) seen.push(frame)
    expect(seen).toMatchObject([
      {
        type: 'error',
        data: { code: 'browser_failed', message: expect.stringContaining('disconnected from the browser') },
      },
      { type: 'session.closed', data: { reason: 'worker_lost' } },
    ])
    await waitUntil(async () => fake.closeEvents.length > 0)
    await fake.close()
    await expectWorkingEngine()
  },
)

test('an endpoint without a browser is reported in own words', async () => {
  const port = await freePort()
  expect(await failureOf(client().createSession({ cdp_url: `http://127.0.0.1:${port}` }))).toMatchObject({
    code: 'browser_failed',
    details: [{ path: 'cdp_url', message: 'connection refused' }],
  })
  expect(await failureOf(client().createSession({ cdp_url: `ws://127.0.0.1:${port}` }))).toMatchObject({
    code: 'browser_failed',
    details: [{ path: 'cdp_url', message: 'cannot reach the browser: connection refused' }],
  })
})

describe('an endpoint that sends invalid messages', () => {
  test.each(nonsense)('in place of a response (%s) gets no session', async (_, answer) => {
    const fake = await startFakeBrowser({ answer })
    expect(await failureOf(client().createSession({ cdp_url: fake.url }))).toMatchObject({
      code: 'browser_failed',
      details: [{ path: 'cdp_url', message: expect.stringContaining('DevTools protocol') }],
    })
    await waitUntil(async () => fake.closeEvents.length > 0)
    expect(fake.closeEvents).toEqual([{ code: 1002, reason: expect.stringContaining('DevTools protocol') }])
    await fake.close()
    await expectWorkingEngine()
  })

  test.each(nonsense)('to an existing session (%s) ends it', async (_, message) => {
    const fake = await startFakeBrowser({ behind: real.url })
    const { session_id: id } = await client().createSession({ cdp_url: fake.url })
    fake.send(message)
    await waitUntil(async () => (await client().getSession({ session_id: id! })).end_reason === 'worker_lost')
    expect((await failureOf(valueOf(client(), id!, '1 + 1'))).code).toBe('session_closed')
    await fake.close()
    await expectWorkingEngine()
  })
})

test('ignores unexpected and duplicate responses', async () => {
  const strange = ['{"id":987654,"result":{}}', '{"id":-9999,"result":{}}', '{"error":{"code":-32700,"message":"x"}}']
  const pass = (text: string) => [...strange, text, ...(text.startsWith('{"id":') ? [text] : [])]
  const fake = await startFakeBrowser({ behind: real.url, pass })
  const { session_id: id } = await client().createSession({ cdp_url: fake.url })
  expect(await valueOf(client(), id!, '[1, 2].length')).toBe(2)
  await client().closeSession({ session_id: id! })
  await fake.close()
})

describe('an endpoint that reports an impossible state', () => {
  let built: BuiltBax
  let fake: FakeBrowser

  beforeAll(async () => {
    built = await buildBax()
    fake = await startFakeBrowser({ behind: real.url })
  })
  afterAll(async () => {
    await fake?.close()
    await built?.close()
  })

  test('loses its session; the server logs the reason and keeps running', async () => {
    const server = await serve(built)
    const create = async () =>
      (await server.request('POST', '/sessions', { cdp_url: fake.url })).body.session_id as string
    const id = await create()
    // Report the page again, although it was not closed.
    fake.send(fake.received.findLast((text) => isPage(text))!)
    const endOf = async () => (await server.request('GET', `/sessions/${id}`)).body.end_reason as unknown
    await waitUntil(async () => (await endOf()) === 'worker_lost')
    const logged = await server.waitForLog(
      ({ level, cause }) => level === 'error' && String(cause).includes('Duplicate target'),
    )
    expect(logged.message).toContain('remote browser')
    const next = await create()
    expect((await server.request('GET', `/sessions/${next}`)).body.status).toBe('ready')
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})

/** Returns whether a message reports a new page to the browser's own session. */
function isPage(text: string): boolean {
  const { method, sessionId, params } = JSON.parse(text) as {
    method?: string
    sessionId?: string
    params?: AttachedTarget
  }
  return method === 'Target.attachedToTarget' && sessionId === undefined && params!.targetInfo.type === 'page'
}

interface AttachedTarget {
  readonly targetInfo: { readonly type: string }
}
