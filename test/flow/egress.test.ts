import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { openPrivateNet, type PrivateNet } from '../support/private-net.ts'
import { open, valueOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'
import { wayPages, waysOut } from '../support/ways-out.ts'

let homes: Homes
let net: PrivateNet
let session: string

beforeAll(async () => {
  net = await openPrivateNet({ ...wayPages, '/': '<!doctype html><title>Home</title><p>Home</p>' })
  homes = await openHomes(net.config)
  session = (await homes.clients.http.createSession({ headless: true })).session_id!
})
afterAll(async () => {
  await homes.close()
  await net.close()
})

/** Returns the URL of a page that tries to reach a host below `open.test` or `private.test`. */
const pageOf = (name: string, host: string, port: number, origin = net.url) =>
  `${origin}/way?name=${name}&to=${encodeURIComponent(`http://${host}:${port}/${name}`)}`

describe('a page of a session cannot reach a blocked address:', () => {
  test.each(Object.keys(waysOut))('%s', async (name) => {
    const { allowed, blocked } = net
    // Workers require a secure origin, such as a loopback address.
    const origin = `http://127.0.0.2:${net.site.port}`
    await open(homes.clients.http, session, pageOf(name, `${name}.open.test`, allowed.port, origin))
    // The request works for an allowed host ...
    await waitUntil(() => allowed.paths.includes(`/${name}`))
    await open(homes.clients.http, session, pageOf(name, `${name}.private.test`, blocked.port, origin))
    // ... and was attempted here, too, but only the name was resolved.
    await waitUntil(() => net.resolvedNames.has(`${name}.private.test`))
    expect(blocked.contacts()).toBe(0)
  })
})

test('WebRTC: neither packets nor connections bypass the proxy', async () => {
  const { port } = net.blocked
  await open(homes.clients.http, session, `${net.url}/`)
  const gathered = await valueOf(
    homes.clients.http,
    session,
    `new Promise((done) => {
      const peer = new RTCPeerConnection({ iceServers: [
        { urls: ['stun:127.0.0.3:${port}'] },
        { urls: ['turn:127.0.0.3:${port}?transport=udp', 'turn:127.0.0.3:${port}?transport=tcp'], username: 'a', credential: 'b' },
      ] })
      const candidates = []
      peer.onicecandidate = ({ candidate }) => candidate ? candidates.push(candidate.candidate) : done(candidates)
      peer.createDataChannel('x')
      peer.createOffer().then((offer) => peer.setLocalDescription(offer))
    })`,
  )
  expect(gathered).toEqual([])
  expect(net.blocked.contacts()).toBe(0)
})

test('WebTransport is blocked', async () => {
  await open(homes.clients.http, session, `http://127.0.0.2:${net.site.port}/`)
  const tried = `new WebTransport('https://127.0.0.3:${net.blocked.port}/').ready.then(() => 'ready', () => 'refused')`
  expect(await valueOf(homes.clients.http, session, tried)).toBe('refused')
  expect(net.blocked.contacts()).toBe(0)
})

test('a blocked request fails in the page, and events report why', async () => {
  const client = homes.clients.http
  await open(client, session, pageOf('image', 'told.private.test', net.blocked.port))
  const seen = `new Promise((done) => { const image = document.querySelector('img'); image.complete ? done(image.naturalWidth) : (image.onerror = () => done(0)) })`
  expect(await valueOf(client, session, seen)).toBe(0)
  const { network } = await client.observe({ session_id: session, include: ['network'] })
  expect(JSON.stringify(network)).toContain('URL blocked')
})

test('pages cannot open files or internal pages of the browser', async () => {
  const client = homes.clients.http
  await open(client, session, `${net.url}/`)
  for (const address of [
    'file:///etc/passwd',
    'chrome://version',
    'view-source:http://a.open.test/',
    'about:version',
  ]) {
    await valueOf(client, session, `{ const tab = window.open('${address}'); location.href = '${address}'; 1 }`)
    const { tabs } = await client.observe({ session_id: session, include: ['tabs'] })
    expect(tabs!.map(({ url }) => url).filter((url) => /^(?:file|chrome|view-source):/.test(url))).toEqual([])
  }
})
