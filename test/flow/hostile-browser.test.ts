/** Endpoints at `cdp_url` that are not browsers or violate the protocol: they only affect their own session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type FalseBrowser, type Said, startFalseBrowser } from '../support/false-browser.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serve } from '../support/server.ts'
import { failureOf, waitUntil, valueOf } from '../support/session-steps.ts'

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
async function engineIsWell() {
  const { session_id: id } = await client().createSession({ cdp_url: real.url })
  expect(await valueOf(client(), id!, '1 + 1')).toBe(2)
  await client().closeSession({ session_id: id! })
}

const nonsense: readonly [string, Said][] = [
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
const excessive: readonly [string, () => Said][] = [
  ['too long', () => Buffer.alloc(limits.cdp.foreignBytes + 1, 'x')],
  ['too many values', () => `{"method":"A.b","params":{"list":[${'1,'.repeat(limits.cdp.messageValues)}1]}}`],
]

test.each(excessive)(
  'an endpoint that sends a message with %s loses its session, which reports why',
  async (_, said) => {
    const liar = await startFalseBrowser({ behind: real.url })
    const { session_id } = await client().createSession({ cdp_url: liar.url })
    const query = { session_id: session_id!, types: 'error', replay: 'all' }
    const frames = follow(homes.transports.http, 'GET /stream/sse', query)
    liar.say(said())
    const seen: unknown[] = []
    for await (const frame of frames) seen.push(frame)
    expect(seen).toMatchObject([
      {
        type: 'error',
        data: { code: 'browser_failed', message: expect.stringContaining('disconnected from the browser') },
      },
      { type: 'session.closed', data: { reason: 'worker_lost' } },
    ])
    await waitUntil(async () => liar.closings.length > 0)
    await liar.close()
    await engineIsWell()
  },
)

describe('an endpoint that sends invalid messages', () => {
  test.each(nonsense)('in place of a response (%s) gets no session', async (_, answer) => {
    const liar = await startFalseBrowser({ answer })
    expect(await failureOf(client().createSession({ cdp_url: liar.url }))).toMatchObject({
      code: 'browser_failed',
      details: [{ path: 'cdp_url', message: expect.stringContaining('DevTools protocol') }],
    })
    await waitUntil(async () => liar.closings.length > 0)
    expect(liar.closings).toEqual([{ code: 1002, reason: expect.stringContaining('DevTools protocol') }])
    await liar.close()
    await engineIsWell()
  })

  test.each(nonsense)('to an existing session (%s) ends it', async (_, said) => {
    const liar = await startFalseBrowser({ behind: real.url })
    const { session_id: id } = await client().createSession({ cdp_url: liar.url })
    liar.say(said)
    await waitUntil(async () => (await client().getSession({ session_id: id! })).end_reason === 'worker_lost')
    expect((await failureOf(valueOf(client(), id!, '1 + 1'))).code).toBe('session_closed')
    await liar.close()
    await engineIsWell()
  })
})

test('ignores unexpected and duplicate responses', async () => {
  const strange = ['{"id":987654,"result":{}}', '{"id":-9999,"result":{}}', '{"error":{"code":-32700,"message":"x"}}']
  const pass = (text: string) => [...strange, text, ...(text.startsWith('{"id":') ? [text] : [])]
  const liar = await startFalseBrowser({ behind: real.url, pass })
  const { session_id: id } = await client().createSession({ cdp_url: liar.url })
  expect(await valueOf(client(), id!, '[1, 2].length')).toBe(2)
  await client().closeSession({ session_id: id! })
  await liar.close()
})

describe('an endpoint that reports an impossible state', () => {
  let built: BuiltBax
  let liar: FalseBrowser

  beforeAll(async () => {
    built = await buildBax()
    liar = await startFalseBrowser({ behind: real.url })
  }, 240_000)
  afterAll(async () => {
    await liar?.close()
    await built?.close()
  })

  test('loses its session; the server logs the reason and keeps running', async () => {
    const server = await serve(built, ['--rate', '0'])
    const create = async () => (await server.ask('POST', '/sessions', { cdp_url: liar.url })).body.session_id as string
    const id = await create()
    // Report the page again, although it was not closed.
    liar.say(liar.heard.findLast((text) => isPage(text))!)
    const endOf = async () => (await server.ask('GET', `/sessions/${id}`)).body.end_reason as unknown
    await waitUntil(async () => (await endOf()) === 'worker_lost')
    const told = await server.line(
      ({ level, cause }) => level === 'error' && String(cause).includes('Duplicate target'),
    )
    expect(told.message).toContain('remote browser')
    const next = await create()
    expect((await server.ask('GET', `/sessions/${next}`)).body.status).toBe('ready')
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})

/** Returns whether a message reports a new page to the browser's own session. */
function isPage(text: string): boolean {
  const { method, sessionId, params } = JSON.parse(text) as { method?: string; sessionId?: string; params?: Arrival }
  return method === 'Target.attachedToTarget' && sessionId === undefined && params!.targetInfo.type === 'page'
}

interface Arrival {
  readonly targetInfo: { readonly type: string }
}
