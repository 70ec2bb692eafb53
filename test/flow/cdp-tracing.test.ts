/** Traces of CDP clients: Chromium records a whole browser, which a session has for itself meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CdpClient, connectCdp } from '../support/cdp-client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { open } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

const http = () => homes.clients.http

beforeAll(async () => {
  const page = '<title>Page</title><p>Text</p><img src="/image">'
  ;[site, homes] = await Promise.all([
    serveSite({
      '/traced': page,
      '/other': page,
      '/image': 'none',
      '/old': (_request, response) => void response.writeHead(302, { location: '/traced' }).end(),
    }),
    openHomes({ writeAnywhere: false, pool: { browsers: 2, warm: 0 } }),
  ])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

const create = async () => (await http().createSession({ headless: true })).session_id!
const close = (session_id: string) => http().closeSession({ session_id })
const browserOf = async (session_id: string) => (await http().getSession({ session_id })).worker_id

async function openClient() {
  const { session_id, cdp_url, frame_token } = await http().createSession({ headless: true })
  const client = await connectCdp(`${cdp_url}?token=${frame_token}`)
  const { targetInfos } = await client.send('Target.getTargets')
  const { targetId } = (targetInfos as { type: string; targetId: string }[]).find(({ type }) => type === 'page')!
  return { id: session_id!, client, page: await client.attach(targetId) }
}

const includedCategories = ['devtools.timeline', 'navigation', 'loading', 'disabled-by-default-devtools.timeline']
const traceConfig = { includedCategories, excludedCategories: ['*'] }
const start = (client: CdpClient, page: string, more = {}) =>
  client.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig, ...more }, page)
const alone = /^-32003 Tracing\.start records the whole browser, which other sessions of the key use/

test('a trace contains its session, and sessions that are created meanwhile use another browser', async () => {
  const { id, client, page } = await openClient()
  await start(client, page)
  await expect(start(client, page)).rejects.toThrow('a trace is being recorded already')
  const other = await create()
  expect(await browserOf(other)).not.toBe(await browserOf(id))
  await Promise.all([open(http(), other, `${site.url}/other`), open(http(), id, `${site.url}/traced`)])
  await client.send('Tracing.end', {}, page)
  await client.event('Tracing.tracingComplete')
  const text = JSON.stringify(client.events.filter(({ method }) => method === 'Tracing.dataCollected'))
  expect(text).toContain(`${site.url}/traced`)
  expect(text).not.toContain(`${site.url}/other`)
  // Afterwards, sessions share the browser again.
  const third = await create()
  expect(await browserOf(third)).toBe(await browserOf(id))
  await Promise.all([id, other, third].map(close))
})

test('a trace can be read as a stream', async () => {
  const { id, client, page } = await openClient()
  await start(client, page, { transferMode: 'ReturnAsStream' })
  await open(http(), id, `${site.url}/traced`)
  await client.send('Tracing.end', {}, page)
  const { params } = await client.event('Tracing.tracingComplete')
  let text = ''
  for (let eof = false; !eof;) {
    const part = await client.send('IO.read', { handle: params['stream'] }, page)
    text += String(part['data'])
    eof = part['eof'] === true
  }
  expect(JSON.stringify(JSON.parse(text))).toContain(`${site.url}/traced`)
  await close(id)
})

test('a trace is refused while another session uses the browser', async () => {
  const { id, client, page } = await openClient()
  const other = await create()
  expect(await browserOf(other)).toBe(await browserOf(id))
  await expect(start(client, page)).rejects.toThrow(alone)
  for (const method of ['Tracing.end', 'Tracing.requestMemoryDump'])
    await expect(client.send(method, {}, page)).rejects.toThrow('no trace is being recorded')
  await close(other)
  await start(client, page)
  await close(id)
})

test('a browser is shared again after the page or the client has gone, or the browser has refused the trace', async () => {
  const ends: ((of: Awaited<ReturnType<typeof openClient>>) => Promise<unknown>)[] = [
    ({ client }) => client.close(),
    async ({ client, page }) => client.send('Target.detachFromTarget', { sessionId: page }),
  ]
  for (const end of ends) {
    const traced = await openClient()
    await start(traced.client, traced.page)
    await end(traced)
    const made: string[] = []
    await waitUntil(async () => {
      made.push(await create())
      return (await browserOf(made.at(-1)!)) === (await browserOf(traced.id))
    })
    await Promise.all([traced.id, ...made].map(close))
  }
  const { id, client, page } = await openClient()
  await expect(client.send('Tracing.start', { transferMode: 'nonsense', traceConfig: 1 }, page)).rejects.toThrow(/^-32/)
  const other = await create()
  expect(await browserOf(other)).toBe(await browserOf(id))
  await Promise.all([id, other].map(close))
})

test.each([
  [{ perfettoConfig: '' }, 'perfettoConfig is not allowed'],
  [{ tracingBackend: 'system' }, 'tracingBackend must be auto or chrome'],
  [{ traceConfig: { traceBufferSizeInKb: 1e9 } }, 'traceBufferSizeInKb must be at most 204800'],
])('a trace with %j is refused', async (params, message) => {
  const { id, client, page } = await openClient()
  await expect(start(client, page, params)).rejects.toThrow(message)
  await close(id)
})

test('responses do not name the proxy as the address of the site', async () => {
  const { id, client, page } = await openClient()
  await client.send('Network.enable', {}, page)
  await client.send('Page.navigate', { url: `${site.url}/old` }, page)
  const isImage = ({ params }: { params: object }) => JSON.stringify(params).includes('/image')
  await client.event('Network.responseReceived', isImage)
  const text = JSON.stringify(client.events)
  expect(text).toContain('redirectResponse')
  expect(text).not.toMatch(/remoteIPAddress|remotePort/)
  await close(id)
})
