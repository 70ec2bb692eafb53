import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Outbox } from '../../src/engine/relay/connector/outbox.ts'
import { limits } from '../../src/core/limits/limits.ts'
import type { Link } from '../../src/core/net/link.ts'
import type { RelaySession } from '../../src/engine/relay/hub/relay-session.ts'
import { memoryLink } from '../support/memory-link.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type ConnectedHub, connectToHub, helloOf } from '../support/relay.ts'
import { freePort } from '../support/ports.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let site: Site
let foreign: ForeignBrowser

beforeAll(async () => {
  ;[site, foreign] = await Promise.all([
    serveSite({
      '/': '<title>Home</title><h1>Home</h1>',
      '/popup': '<title>Popup</title><script>document.title += " ran"</script>',
      '/hang': '<title>Hang</title><script>setTimeout(() => { while (true); }, 100)</script>',
    }),
    startForeignBrowser(),
  ])
})
afterAll(async () => {
  await foreign.close()
  await site.close()
})

const never = new AbortController().signal
const call = (session: RelaySession, method: string, params = {}, wish = {}) =>
  session.calls.call({ method, params, timeout_ms: 20_000, max_bytes: limits.relay.resultBytes, ...wish }, never)
const evaluate = async (session: RelaySession, expression: string, wish = {}) => {
  const params = { expression, returnByValue: true, awaitPromise: true }
  const { result } = await call(session, 'Runtime.evaluate', params, wish)
  return (result['result'] as { value?: unknown }).value
}
const events = (session: RelaySession, query = {}) =>
  session.events.read({ since: 0, limit: 100_000, order: 'asc', ...query }).events
const isBack = ({ statuses }: ConnectedHub) =>
  waitUntil(
    () => statuses.filter(({ state }) => state === 'connected').length > 1 && statuses.at(-1)!.state === 'connected',
  )
/** Resolves once the tabs that a test has closed are gone, so that the next one does not find them. */
const isAlone = () => waitUntil(async () => (await foreign.pages()).length === 1)

describe('tunnel failures', () => {
  test('a pending call fails at once with an unknown outcome, and nothing runs twice', async () => {
    const connected = await connectToHub(foreign.url)
    const { session } = connected
    await evaluate(session, 'window.count = 0')
    const pending = evaluate(session, 'new Promise(() => { window.count += 1 })')
    await waitUntil(async () => (await evaluate(session, 'window.count')) === 1)
    connected.links[0]!.far.drop()
    await expect(pending).rejects.toMatchObject({ code: 'relay_disconnected', details: { outcome: 'unknown' } })
    expect(session.record(null).status).toBe('reconnecting')
    await isBack(connected)
    expect(await evaluate(session, 'window.count')).toBe(1)
    await connected.end()
  })

  test('calls during the outage fail at once with a retry delay; the session returns with the same ID', async () => {
    const connected = await connectToHub(foreign.url)
    connected.open = false
    connected.links[0]!.far.drop()
    await waitUntil(() => connected.statuses.some(({ state }) => state === 'reconnecting'))
    await expect(evaluate(connected.session, '1')).rejects.toMatchObject({
      code: 'relay_disconnected',
      retryAfterSecs: 5,
    })
    connected.open = true
    await isBack(connected)
    expect(connected.hub.sessions.map(({ id }) => id)).toEqual([connected.session.id])
    expect(connected.session.record(null)).toMatchObject({ status: 'connected', reconnects: 1 })
    await connected.end()
  })

  test('both sides detect a network that drops everything', async () => {
    let drop = false
    const wrapLink = (link: Link): Link => ({
      get buffered() {
        return link.buffered
      },
      handle: (handlers) =>
        link.handle({
          ...handlers,
          onText: (text) => drop || handlers.onText(text),
          onBytes: (bytes) => drop || handlers.onBytes(bytes),
        }),
      sendText: (text) => drop || link.sendText(text),
      sendBytes: (bytes, onSent) => (drop ? onSent() : link.sendBytes(bytes, onSent)),
      close: () => {},
      drop: () => {},
    })
    const connected = await connectToHub(foreign.url, { heartbeatMs: 200, wrapLink })
    drop = true
    const pending = evaluate(connected.session, '1')
    await expect(pending).rejects.toMatchObject({ code: 'relay_disconnected' })
    await waitUntil(() => connected.statuses.some(({ state }) => state === 'reconnecting'))
    drop = false
    await isBack(connected)
    expect(await evaluate(connected.session, '6 * 7')).toBe(42)
    await connected.end()
  })

  test('events of the outage are delivered afterwards, once', async () => {
    const connected = await connectToHub(foreign.url)
    const { session } = connected
    await call(session, 'Page.navigate', { url: site.url })
    connected.open = false
    connected.links[0]!.far.drop()
    await foreign.evaluate('/', 'console.log("meanwhile")')
    connected.open = true
    await isBack(connected)
    await waitUntil(() => events(session, { text: 'meanwhile' }).length > 0)
    expect(events(session, { text: 'meanwhile' })).toHaveLength(1)
    expect(session.events.dropped.total).toBe(0)
    await connected.end()
  })

  test('events during an outage are limited, and drops are counted exactly', async () => {
    // Collect only the console: a page that is busy with the flood may also be reported as unresponsive.
    const connected = await connectToHub(foreign.url, { kinds: ['console'] })
    const { session } = connected
    const count = limits.relay.outboxEvents + 5000
    await call(session, 'Page.navigate', { url: `${site.url}/popup` })
    await waitUntil(async () => (await foreign.pages()).some((url) => url.endsWith('/popup')))
    const before = session.events.lastSeq
    connected.open = false
    connected.links[0]!.far.drop()
    const flood = `for (let at = 0; at < ${count}; at++) console.log("loud " + at); console.log("over")`
    const received = vi.spyOn(Outbox.prototype, 'add')
    await foreign.evaluate('/popup', flood)
    // Events that arrive after the reconnect are not dropped.
    await waitUntil(() => received.mock.calls.some(([event]) => JSON.stringify(event).includes('"over"')))
    received.mockRestore()
    connected.open = true
    await isBack(connected)
    await waitUntil(() => events(session, { text: 'over' }).length > 0)
    // Three events are of kind relay: lost, resumed, dropped.
    const dropped = session.events.lastSeq - before - 3
    expect(session.events.dropped.console + dropped).toBe(count + 1)
    expect(session.events.dropped.console).toBeGreaterThanOrEqual(5000)
    await connected.end()
  })

  test('a popup opened during the outage loads', async () => {
    const connected = await connectToHub(foreign.url)
    await connected.session
      .executor()
      .execute('run', { commands: [{ command: 'navigate_to', data: { url: site.url } }] }, never)
    connected.open = false
    connected.links[0]!.far.drop()
    await foreign.evaluate('/', `void window.open('/popup', '_blank')`)
    await waitUntil(async () => (await foreign.titles()).includes('Popup ran'))
    connected.open = true
    await isBack(connected)
    await waitUntil(() => connected.session.record(null).targets.some(({ title }) => title === 'Popup ran'))
    await foreign.closePage('/popup')
    await connected.end()
  })
})

describe('hostile connectors', () => {
  test('a second connector with the same secret takes over, and the first does not reconnect', async () => {
    const connected = await connectToHub(foreign.url)
    const [near, far] = memoryLink()
    const hello = new Promise<{ resume: string }>((resolve) => {
      near.handle({
        onText: (text) => JSON.parse(text).type === 'welcome' && resolve(JSON.parse(text)),
        onBytes: () => {},
        onClose: () => {},
      })
    })
    connected.hub.accept(far, { tokenId: null, owner: null, transport: 'local', onlyResumes: false })
    near.sendText(JSON.stringify(helloOf({ resume: connected.resumeSecret() })))
    expect((await hello).resume).toBe(connected.resumeSecret())
    await expect(connected.running).rejects.toThrow(/taken over/)
    expect(connected.hub.sessions).toHaveLength(1)
    expect(connected.session.record(null)).toMatchObject({ reconnects: 1, disconnect_reason: 'replaced' })
    connected.hub.close()
  })

  test('a stolen secret is useless with another token', async () => {
    const connected = await connectToHub(foreign.url)
    const [near, far] = memoryLink()
    const welcome = new Promise<{ session_id: string }>((resolve) => {
      near.handle({
        onText: (text) => JSON.parse(text).type === 'welcome' && resolve(JSON.parse(text)),
        onBytes: () => {},
        onClose: () => {},
      })
    })
    connected.hub.accept(far, { tokenId: 'rtk_thief', owner: null, transport: 'ws', onlyResumes: false })
    near.sendText(JSON.stringify(helloOf({ resume: connected.resumeSecret() })))
    expect((await welcome).session_id).not.toBe(connected.session.id)
    expect(connected.session.record(null)).toMatchObject({ status: 'connected', reconnects: 0 })
    await connected.end()
  })
})

describe('large results and hanging tabs', () => {
  test('a result above max_bytes is rejected with a hint', async () => {
    const connected = await connectToHub(foreign.url)
    const long = evaluate(connected.session, '"x".repeat(2e6)', { max_bytes: 1e6 })
    await expect(long).rejects.toMatchObject({ code: 'payload_too_large', hint: expect.stringContaining('max_bytes') })
    expect(String(await evaluate(connected.session, '"x".repeat(2e6)'))).toHaveLength(2e6)
    await connected.end()
  })

  test('a result of 80 MiB only fails its own call, or is delivered if max_bytes allows it', async () => {
    const connected = await connectToHub(foreign.url)
    const { session } = connected
    const mib = 1024 * 1024
    // Copying this much takes seconds, and a busy machine several times that.
    const timeout_ms = 200_000
    const waiting = evaluate(session, 'new Promise((done) => { window.done = done })', { timeout_ms })
    const long = '"x".repeat(80 * 1024 * 1024)'
    const refused = { code: 'payload_too_large', status: 413 }
    await expect(evaluate(session, long, { timeout_ms })).rejects.toMatchObject(refused)
    const most = { max_bytes: limits.relay.maxResultBytes, timeout_ms }
    const dense = `Array(${limits.cdp.messageValues + 1}).fill(1)`
    await expect(evaluate(session, dense, most)).rejects.toMatchObject(refused)
    expect(String(await evaluate(session, long, { max_bytes: 90 * mib, timeout_ms }))).toHaveLength(80 * mib)
    await evaluate(session, 'void window.done("kept")')
    expect(await waiting).toBe('kept')
    expect(session.record(null)).toMatchObject({ status: 'connected', reconnects: 0 })
    await connected.end()
  })

  test('a tab that crashes fails its calls and the next command, and is reloaded', async () => {
    const connected = await connectToHub(foreign.url, { policy: 'full' })
    const { session } = connected
    const { result } = await call(session, 'Target.createTarget', { url: `${site.url}/` })
    const target_id = String(result['targetId'])
    const isThere = (target: { target_id: string; title: string; responsive: boolean }) =>
      target.target_id === target_id && target.title === 'Home' && target.responsive
    await waitUntil(() => session.record(null).targets.some(isThere))
    const run = (command: string) =>
      session.executor().execute('run', { commands: [{ command }], context: { target_id } }, never)
    expect(await run('get_title')).toMatchObject({ results: [{ data: { result: { value: 'Home' } } }] })
    const waiting = evaluate(session, 'new Promise(() => {})', { target_id })
    await evaluate(session, '1', { target_id })
    const crash = () => call(session, 'Page.crash', {}, { target_id })
    const [answer] = await Promise.all([crash(), expect(waiting).rejects.toMatchObject({ code: 'page_crashed' })])
    expect(answer).toMatchObject({ result: {} })
    expect(await run('get_title')).toMatchObject({
      code: 'page_crashed',
      results: [{ details: { reloaded: true, url: `${site.url}/` } }],
    })
    expect(await run('get_title')).toMatchObject({ results: [{ data: { result: { value: 'Home' } } }] })
    // Playwright has disconnected, and reconnects after the page has crashed.
    await session.executor().close()
    await crash()
    await waitUntil(() => session.record(null).targets.some(({ crashed }) => crashed))
    expect(await run('get_title')).toMatchObject({ code: 'page_crashed', results: [{ details: { reloaded: true } }] })
    expect(await run('get_title')).toMatchObject({ success: true })
    expect(events(session, { types: ['crashed'] })).toHaveLength(2)
    await call(session, 'Target.closeTarget', { targetId: target_id })
    await isAlone()
    await connected.end()
  })

  test('a hanging tab is reported, and blocks neither calls on other tabs nor new clients', async () => {
    const connected = await connectToHub(foreign.url)
    const { session } = connected
    const healthy = session.record(null).active_target_id!
    const { result } = await call(session, 'Target.createTarget', { url: `${site.url}/hang` })
    const hung = result['targetId']
    await waitUntil(() => session.record(null).targets.some((one) => one.target_id === hung && !one.responsive))
    await waitUntil(() => events(session, { types: ['unresponsive'] }).some((event) => event.target_id === hung))
    expect(await evaluate(session, '6 * 7', { target_id: healthy })).toBe(42)
    const attached = session.executor()
    const title = await attached.execute(
      'run',
      { commands: [{ command: 'get_title' }], context: { target_id: healthy } },
      never,
    )
    expect(title).toMatchObject({ success: true })
    await call(session, 'Target.closeTarget', { targetId: result['targetId'] })
    await isAlone()
    await connected.end()
  })
})

test('a browser that is killed and restarted keeps its ID', async () => {
  const killable = await startForeignBrowser({ port: await freePort() })
  const connected = await connectToHub(killable.url)
  await killable.close()
  await waitUntil(() => connected.session.record(null).status === 'browser_lost')
  await expect(evaluate(connected.session, '1')).rejects.toMatchObject({ code: 'browser_lost' })
  const again = await startForeignBrowser({ port: Number(new URL(killable.url).port) })
  await waitUntil(
    () =>
      connected.session.record(null).status === 'connected' && connected.session.record(null).active_target_id !== null,
  )
  expect(await evaluate(connected.session, '6 * 7')).toBe(42)
  expect(events(connected.session, { kinds: ['relay'] }).map(({ type }) => type)).toEqual([
    'connected',
    'browser_lost',
    'resumed',
  ])
  await connected.end()
  await again.close()
})
