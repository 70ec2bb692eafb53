import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import type { RelayPolicy } from '../../src/core/relay-names.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ConnectedBrowser, connectBrowser } from '../support/relay.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let foreign: Awaited<ReturnType<typeof startForeignBrowser>>
const connected: ConnectedBrowser[] = []

beforeAll(async () => {
  ;[homes, site, foreign] = await Promise.all([
    openHomes(),
    serveSite({ '/': '<title>Home</title><h1>Home</h1>', '/data': '{"from":"server"}' }),
    startForeignBrowser(),
  ])
})
afterEach(async () => {
  for (const one of connected.splice(0)) await one.stop()
})
afterAll(async () => {
  await homes.close()
  await foreign.close()
  await site.close()
})

const client = (): Client => homes.clients.unix

async function connect(policy: RelayPolicy): Promise<string> {
  const one = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock`, policy })
  connected.push(one)
  await waitUntil(async () => (await client().getRelay({ id: one.id })).active_target_id !== null)
  return one.id
}

const run = async (session_id: string, ...commands: ReturnType<typeof command>[]) =>
  client().runCommands({ session_id, commands, continue_on_error: true })

/** Returns the value of an expression in the active tab. */
async function evaluate(id: string, expression: string): Promise<unknown> {
  const { results, error } = await run(id, command('evaluate', { expression }))
  if (error !== undefined) throw new Error(error)
  return (results[0]!.data!['result'] as { value: unknown }).value
}

test('a relay session has routes, requests, emulation, init scripts and vitals', async () => {
  const id = await connect('no-lifecycle')
  const prepared = await run(
    id,
    command('add_route', { url: '**/data', body: 'from a route' }),
    command('add_init_script', { script: 'window.early = true' }),
    command('emulate', { color_scheme: 'dark', timezone: 'Asia/Tokyo', user_agent: 'own', headers: { 'x-own': '1' } }),
    command('set_viewport', { width: 500, height: 400, scale: 2 }),
    command('navigate_to', { url: site.url }),
    command('get_vitals'),
  )
  expect(prepared.results.map(({ error }) => error)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect(await evaluate(id, `fetch('/data').then(r => r.text())`)).toBe('from a route')
  const facts = `[window.early, matchMedia('(prefers-color-scheme: dark)').matches, new Date(0).getHours(), navigator.userAgent, innerWidth, innerHeight, devicePixelRatio]`
  expect(await evaluate(id, facts)).toEqual([true, true, 9, 'own', 500, 400, 2])
  const { results } = await run(
    id,
    command('list_requests', { url: '**/data' }),
    command('get_request', { request_id: '1' }),
  )
  expect(results[0]).toMatchObject({ data: { result: { value: { requests: [{ status: 200 }] } } } })
  expect(results[1]).toMatchObject({ data: { result: { value: { request_headers: { 'x-own': '1' } } } } })

  const undone = await run(
    id,
    command('emulate', { reset: true }),
    command('remove_route'),
    command('remove_init_script'),
    command('navigate_to', { url: site.url }),
  )
  expect(undone).toMatchObject({ success: true })
  const after = (await evaluate(id, facts)) as unknown[]
  expect(after.slice(0, 2)).toEqual([null, false])
  expect(after[3]).toContain('Chrome')
  expect(after.slice(4)).not.toEqual([500, 400, 2])
  expect(await evaluate(id, `fetch('/data').then(r => r.text())`)).toBe('{"from":"server"}')
})

test('emulation, routes and init scripts end with the connection', async () => {
  const id = await connect('no-lifecycle')
  await run(
    id,
    command('add_route', { url: '**/data', abort: true }),
    command('emulate', { user_agent: 'own' }),
    command('set_viewport', { width: 500, height: 400 }),
  )
  await connected.pop()!.stop()
  const own = (expression: string) => foreign.evaluate('/', expression)
  // The browser restores these after the connection has closed; a page gets its size with a later frame.
  await waitUntil(async () => String(await own('navigator.userAgent')).includes('Chrome'))
  await waitUntil(async () => (await own('innerWidth')) !== 500)
  expect(await own(`fetch('/data').then(r => r.text())`)).toBe('{"from":"server"}')
})

test('a read-only browser refuses what changes its pages, and stays usable', async () => {
  const id = await connect('read-only')
  const { results } = await run(
    id,
    command('add_route', { url: '**', abort: true }),
    command('emulate', { color_scheme: 'dark' }),
    command('emulate', { offline: true }),
    command('set_viewport', { width: 500, height: 400 }),
    command('add_init_script', { script: '1' }),
  )
  for (const result of results) {
    expect(result).toMatchObject({ success: false, error: expect.stringContaining('the policy read-only') })
  }
  const { results: after } = await run(id, command('list_routes'), command('list_requests'), command('get_title'))
  expect(after).toMatchObject([
    { success: true, data: { result: { value: [] } } },
    { success: true },
    { success: true },
  ])
})

test('a session on a remote browser has emulation and routes too', async () => {
  const { session_id } = await homes.clients.http.createSession({ cdp_url: foreign.url })
  const { results } = await homes.clients.http.runCommands({
    session_id,
    commands: [
      command('emulate', { user_agent: 'own', timezone: 'Asia/Tokyo' }),
      command('set_viewport', { width: 500, height: 400, scale: 2 }),
      command('add_route', { url: '**/data', body: 'from a route' }),
      command('navigate_to', { url: site.url }),
      command('evaluate', {
        expression: `fetch('/data').then(r => r.text()).then(text => [text, navigator.userAgent, new Date(0).getHours(), innerWidth, devicePixelRatio])`,
      }),
    ],
  })
  await homes.clients.http.closeSession({ session_id: session_id! })
  expect(results.at(-1)).toMatchObject({ data: { result: { value: ['from a route', 'own', 9, 500, 2] } } })
})
