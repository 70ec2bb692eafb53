/** The identity of reads in the tools of agents. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { connectMcp, type McpClient } from '../support/mcp.ts'
import { serveSite, type Site } from '../support/site.ts'

let mcp: McpClient
let site: Site
let homes: Homes

/** A page for Ann, and a login page for others. */
const account =
  (text: string) =>
  ({ headers: { cookie = '', authorization = '' } }: IncomingMessage, response: ServerResponse) => {
    const isKnown = cookie.includes('token=secret-ann') || authorization === 'Bearer secret-ann'
    const body = isKnown ? text : '<p>Please log in.</p><form><input name=user><input type=password name=p></form>'
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Shop</title><main>${body}`)
  }

beforeAll(async () => {
  site = await serveSite({
    '/': account('<p>Orders of Ann. <a href="/invoice">Invoice</a></p>'),
    '/invoice': account('<p>Invoice of Ann.</p>'),
    '/login': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'token=secret-ann; Max-Age=900; HttpOnly' })
      response.end('<!doctype html><title>Shop</title><p>Welcome</p>')
    },
  })
  homes = await openHomes()
  mcp = await connectMcp([], {}, ['--server', homes.baseUrl])
  const { http } = homes.clients
  const { session_id } = await http.createSession({ headless: true, start_url: `${site.url}/login` })
  await http.saveProfile({ name: 'ann', session_id: session_id! })
  await http.closeSession({ session_id: session_id! })
})
afterAll(async () => {
  await mcp?.close()
  await homes?.close()
  await site?.close()
})

const read = (tool: string, identity?: Record<string, unknown>) =>
  mcp.call(tool, { url: site.url, ...(identity && { identity }) })

describe.each(['web_scrape', 'web_crawl', 'web_map'])('%s', (tool) => {
  const invoice = () => `${site.url}/invoice`
  const expected = () => (tool === 'web_scrape' ? 'Orders of Ann' : invoice())

  test('reads with the cookies and headers of an identity, and without one as nobody', async () => {
    expect((await read(tool, { cookies: 'token=secret-ann' })).text).toContain(expected())
    expect((await read(tool, { headers: { Authorization: 'Bearer secret-ann' } })).text).toContain(expected())
    expect((await read(tool)).text).not.toContain(expected())
  })

  test('rejects unknown and invalid fields of an identity by their names', async () => {
    const unknown = await read(tool, { cookie: 'a=1' })
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('identity.cookie is not a known') })
    const invalid = await read(tool, { headers: { Host: 'secret' }, userAgent: 'a\nb' })
    expect(invalid.text).toContain('identity.headers.Host is set by the engine')
    expect(invalid.text).toContain('identity.userAgent must be printable ASCII')
    const unread = await read(tool, { cookies: 'no cookies' })
    expect(unread).toMatchObject({ isError: true, text: expect.stringContaining('identity.cookies ') })
    expect((await read(tool, { save_profile: true })).text).toContain('identity.save_profile is not a known field')
  })

  test('reads with a saved profile', async () => {
    expect((await read(tool, { profile: 'ann' })).text).toContain(expected())
    expect((await read(tool, { profile: 'absent' })).text).toContain('profile_not_found')
  })
})

test.each(['web_scrape', 'web_map'])('%s reads with a session of the agent', async (tool) => {
  await mcp.call('browser_open', { url: `${site.url}/login`, session: 'ann' })
  const { text } = await read(tool, { session_id: 'ann' })
  expect(text).toContain(tool === 'web_scrape' ? 'Orders of Ann' : `${site.url}/invoice`)
  expect((await read(tool, { session_id: 'bob' })).text).toContain('session_not_found')
})

test('web_crawl refuses a session, because crawls outlast sessions', async () => {
  const { text } = await read('web_crawl', { session_id: 'ann' })
  expect(text).toContain('identity.session_id is not a known field')
  expect(text).toContain('save the session as a profile')
})

test('tools with allowed domains read with a session that has the same limits', async () => {
  const flags = ['--allowed-domains', '127.0.0.1']
  const limited = await connectMcp(flags, {}, ['--server', homes.baseUrl])
  await limited.call('browser_open', { url: `${site.url}/login`, session: 'ann' })
  const { text } = await limited.call('web_scrape', { url: site.url, identity: { session_id: 'ann' } })
  expect(text).toContain('Orders of Ann')
  await limited.close()
})
