import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RelaySession } from '../../src/engine/relay/hub/relay-session.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { connectToHub } from '../support/relay.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { respondWith } from '../support/web.ts'

let site: Site
let foreign: Awaited<ReturnType<typeof startForeignBrowser>>

beforeAll(async () => {
  ;[site, foreign] = await Promise.all([
    serveSite({
      '/': '<title>Home</title><h1>Home</h1><script>console.log("hello", {n: 1}, "Bearer abcdefghijkl")</script>',
      '/data': '<title>Data</title><script>fetch("/data.json"); fetch("/pixel")</script>',
      '/data.json': respondWith('application/json', '{"name":"Ada","token":"s3cret"}'),
      '/pixel': respondWith('image/png', 'x'),
      '/other': '<title>Other</title><img src="/picture?token=s3cret">',
    }),
    startForeignBrowser(),
  ])
})
afterAll(async () => {
  await foreign.close()
  await site.close()
})

const never = new AbortController().signal
const connected = (source: Parameters<typeof connectToHub>[1] = {}) => connectToHub(foreign.url, source)

const call = (session: RelaySession, method: string, params = {}, target_id?: string) =>
  session.calls.call({ method, params, target_id, timeout_ms: 10_000, max_bytes: 1_000_000 }, never)

const valueOf = async (session: RelaySession, expression: string): Promise<unknown> => {
  const { result } = await call(session, 'Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
  return (result['result'] as { value: unknown }).value
}

describe('the browser of a connector', () => {
  test('runs CDP calls on its active page, where domains stay enabled', async () => {
    const { session, end } = await connected()
    await call(session, 'Page.enable')
    await call(session, 'Page.navigate', { url: site.url })
    await waitUntil(
      () =>
        session.events.read({ since: 0, limit: 1000, order: 'asc', types: ['Page.loadEventFired'] }).events.length > 0,
    )
    expect(await valueOf(session, 'document.title')).toBe('Home')
    expect((await call(session, 'Browser.getVersion')).targetId).toBeNull()
    await end()
  })

  test('reports console and network events without secrets', async () => {
    const { session, end } = await connected()
    const page = (query = {}) => session.events.read({ since: 0, limit: 1000, order: 'asc', ...query }).events
    await call(session, 'Page.navigate', { url: site.url })
    const message = { level: 'log', text: 'hello {n: 1} Bearer [redacted]', url: `${site.url}/` }
    // Console messages from before the connection come first, without previews.
    await waitUntil(() => page({ kinds: ['console'], text: 'n: 1' }).length > 0)
    expect(page({ kinds: ['console'] }).at(-1)).toMatchObject({ type: 'log', data: message })
    await call(session, 'Page.navigate', { url: `${site.url}/other` })
    await waitUntil(() => page({ types: ['finished'], url: (url: string) => url.includes('picture') }).length > 0)
    const pictureRequests = page({ kinds: ['network'], url: (url: string) => url.includes('picture') })
    expect(pictureRequests.map(({ type }) => type)).toEqual(['request', 'response', 'finished'])
    expect(JSON.stringify(page())).not.toContain('s3cret')
    await end()
  })

  test('reports response bodies on request, without secrets', async () => {
    const { session, end } = await connected({ bodies: true })
    await call(session, 'Page.navigate', { url: `${site.url}/data` })
    const finished = (ending: string) =>
      session.events
        .read({ since: 0, limit: 1000, order: 'asc', types: ['finished'], url: (url) => url.endsWith(ending) })
        .events.at(-1)
    await waitUntil(() => finished('/data.json') !== undefined && finished('/pixel') !== undefined)
    expect(finished('/data.json')!.data['body']).toBe('{"name":"Ada","token":"[redacted]"}')
    expect(finished('/pixel')!.data).not.toHaveProperty('body')
    await end()
  })

  test('denies calls that its policy does not allow', async () => {
    const { session, end } = await connected()
    await expect(call(session, 'Browser.close')).rejects.toMatchObject({ code: 'method_denied' })
    await expect(call(session, 'Foo.bar')).rejects.toMatchObject({ code: 'cdp_error', details: { code: -32_601 } })
    await expect(call(session, 'Page.enable', {}, 'NOPE')).rejects.toMatchObject({ code: 'target_not_found' })
    await end()
  })

  test('reconnects with the same ID after an outage, and delivers the events of the outage once', async () => {
    const { hub, session, links, statuses, end } = await connected()
    await call(session, 'Page.navigate', { url: site.url })
    const pending = call(session, 'Runtime.evaluate', { expression: 'new Promise(() => {})', awaitPromise: true })
    links[0]!.near.drop()
    await expect(pending).rejects.toMatchObject({ code: 'relay_disconnected', details: { outcome: 'unknown' } })
    await waitUntil(() => statuses.some((status) => status.state === 'connected' && status.resumed))
    expect(hub.sessions.map(({ id }) => id)).toEqual([session.id])
    expect(session.record('').status).toBe('connected')
    expect(await valueOf(session, '6 * 7')).toBe(42)
    const all = session.events.read({ since: 0, limit: 1000, order: 'asc' }).events
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1))
    expect(all.filter(({ kind }) => kind === 'relay').map(({ type }) => type)).toEqual(['connected', 'lost', 'resumed'])
    await end()
  })

  test('shows only the shared tabs', async () => {
    const all = await connected()
    await call(all.session, 'Page.navigate', { url: site.url })
    const { result } = await call(all.session, 'Target.createTarget', { url: `${site.url}/other` })
    await waitUntil(() => all.session.record('').targets.some(({ url }) => url.endsWith('/other')))
    await all.end()

    const { session, end } = await connected({ tabs: [`${site.url}/other`] })
    expect(session.record('').targets.map(({ url }) => url)).toEqual([`${site.url}/other`])
    const targets = await call(session, 'Target.getTargets')
    expect((targets.result['targetInfos'] as { targetId: string }[]).map(({ targetId }) => targetId)).toEqual([
      result['targetId'],
    ])
    await expect(call(session, 'Storage.getCookies')).rejects.toMatchObject({ code: 'method_denied' })
    await call(session, 'Target.closeTarget', { targetId: result['targetId'] })
    // Another test must not find it.
    await waitUntil(async () => (await foreign.pages()).length === 1)
    await end()
  })

  test('drops and counts events above the rate limit', async () => {
    const { session, end } = await connected({ maxEventsPerSec: 10 })
    await call(session, 'Page.navigate', { url: site.url })
    await call(session, 'Runtime.evaluate', {
      expression: 'for (let at = 0; at < 5000; at++) console.log("flood", at)',
    })
    await call(session, 'Runtime.evaluate', { expression: 'console.error("the last")' })
    const kept = () =>
      session.events.read({ since: 0, limit: 10_000, order: 'asc', kinds: ['console'], text: 'flood' }).events.length
    await waitUntil(() => kept() + session.events.dropped.console >= 5000)
    expect(kept()).toBeLessThan(2500)
    const dropped = session.events.read({ since: 0, limit: 10_000, order: 'asc', types: ['dropped'] }).events
    expect(dropped.reduce((sum, { data }) => sum + Number(data['console']), 0)).toBe(session.events.dropped.console)
    await end()
  })
})
