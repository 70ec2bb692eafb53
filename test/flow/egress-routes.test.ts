import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { command, open, valueOf } from '../support/session-steps.ts'

let homes: Homes
let net: PrivateNet
let session: string

beforeAll(async () => {
  net = await openPrivateNet({ '/': '<!doctype html><title>Home</title>' })
  homes = await openHomes(net.config)
  session = (await homes.clients.http.createSession({ headless: true })).session_id!
})
afterAll(async () => {
  await homes.close()
  await net.close()
})

test('neither a route nor a redirect of one reaches a blocked address', async () => {
  const client = homes.clients.http
  const { port } = net.blocked
  const routes = [
    { url: '**/modified', set_headers: { 'X-Forwarded-Host': 'a.private.test' } },
    { url: '**/redirected', status: 302, headers: { location: `http://b.private.test:${port}/` } },
    {
      url: '**/page',
      body: `<script>fetch('http://c.private.test:${port}/', { mode: 'no-cors' })</script>`,
      content_type: 'text/html',
    },
  ]
  const added = await client.runCommands({
    session_id: session,
    commands: routes.map((data) => command('add_route', data)),
  })
  expect(added).toMatchObject({ success: true })
  await open(client, session, `${net.url}/`)
  const fetched = (url: string) =>
    valueOf(
      client,
      session,
      `fetch(${JSON.stringify(url)}, { mode: 'no-cors' }).then(() => 'reached', () => 'blocked')`,
    )
  expect(await fetched(`http://a.private.test:${port}/modified`)).toBe('blocked')
  expect(await fetched('/redirected')).toBe('blocked')
  await open(client, session, `http://d.private.test:${port}/page`)
  await open(client, session, `http://d.private.test:${port}/redirected`)
  expect(net.blocked.contacts()).toBe(0)
})
