import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, homeNames, openHomes } from '../support/homes.ts'
import { failureOf, open } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({ '/': `<!doctype html><title>Home</title><h1>Home</h1><script>console.info('hello')</script>` }),
  ])
})
afterAll(() => Promise.all([homes.close(), site.close()]))

describe.each(homeNames)('over %s', (home) => {
  test('returns the log of a session with console, network and commands', async () => {
    const client = homes.clients[home]
    const session_id = (await client.createSession({ headless: true })).session_id!
    await open(client, session_id, site.url)
    await waitUntil(async () =>
      (await client.getSessionLog({ session_id })).events.some(({ type }) => type === 'console'),
    )
    const log = await client.getSessionLog({ session_id })
    expect(log).toMatchObject({ session_id, dropped: 0 })
    expect(log.events.map(({ seq }) => seq)).toEqual(log.events.map((_, index) => index + 1))
    expect(log.events.find(({ type }) => type === 'console')).toMatchObject({ data: { level: 'info', text: 'hello' } })
    expect(log.events.find(({ type }) => type === 'network.response')).toMatchObject({
      data: { url: `${site.url}/`, status: 200 },
    })
    expect(log.events.some(({ type, data }) => type === 'command.finished' && data['command'] === 'navigate_to')).toBe(
      true,
    )
    await client.closeSession({ session_id })
    expect((await failureOf(client.getSessionLog({ session_id }))).code).toBe('session_closed')
  })

  test('returns a trace as a zip file of everything between start and stop', async () => {
    const client = homes.clients[home]
    const session_id = (await client.createSession({ headless: true })).session_id!
    expect((await failureOf(client.traceSession({ session_id, action: 'stop' }))).code).toBe('conflict')
    expect(await client.traceSession({ session_id, action: 'start' })).toEqual({ session_id, tracing: true })
    expect((await failureOf(client.traceSession({ session_id, action: 'start' }))).code).toBe('conflict')
    await open(client, session_id, site.url)
    const { tracing, trace } = await client.traceSession({ session_id, action: 'stop' })
    expect(tracing).toBe(false)
    const entries = unzipSync(Buffer.from(trace!, 'base64'))
    expect(Object.keys(entries)).toEqual(expect.arrayContaining(['trace.trace', 'trace.network']))
    expect(Buffer.from(entries['trace.network']!).toString()).toContain(site.url)

    await client.traceSession({ session_id, action: 'start' })
    expect(await client.traceSession({ session_id, action: 'discard' })).toEqual({ session_id, tracing: false })
    await client.closeSession({ session_id })
  })

  test('returns neither for an unknown session', async () => {
    const client = homes.clients[home]
    expect((await failureOf(client.getSessionLog({ session_id: 'nobody' }))).code).toBe('session_not_found')
    expect((await failureOf(client.traceSession({ session_id: 'nobody', action: 'start' }))).code).toBe(
      'session_not_found',
    )
    const wrong = client.traceSession({ session_id: 'x', action: 'pause' as 'start' })
    expect((await failureOf(wrong)).message).toBe('action must be one of "start", "stop", "discard"')
  })
})
