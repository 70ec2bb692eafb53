/** Uploads and downloads whose session ends meanwhile, and requests that are rejected before their body has arrived. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { download } from '../../src/client/client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ConnectionInParts, connectInParts, sendBeforeReading } from '../support/in-parts.ts'
import { failureOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

const quota = 20_000_000
/** Longer than what a server reads of a rejected request without waiting for its client. */
const long = 72 * 1024 * 1024

let homes: Homes
beforeAll(async () => {
  homes = await openHomes({ writeAnywhere: false, downloadBytes: quota, pool: { warm: 0 } })
})
afterAll(() => homes?.close())

const client = () => homes.clients.http
const create = async (input: object = {}) => (await client().createSession(input)).session_id!
const createOpened = () => create({ start_url: 'data:text/html,<title>Page</title>' })
const fileAt = (session: string, name: string) => `PUT /sessions/${session}/files/${name}`
const connection = () => connectInParts(homes.baseUrl)

const put = (session: string, size: number) =>
  fetch(`${homes.baseUrl}/sessions/${session}/files/whole.bin`, { method: 'PUT', body: Buffer.alloc(size, 'x') })
const lastUse = async (session: string) => (await client().getSession({ session_id: session })).last_activity_at

/** Begins an upload; resolves once its session receives it. */
async function uploadHalf(session: string): Promise<ConnectionInParts> {
  const before = await lastUse(session)
  const uploading = await connection()
  await uploading.begin(fileAt(session, 'half.bin'), { 'content-length': quota }, 'begun')
  await waitUntil(async () => (await lastUse(session)) !== before)
  return uploading
}

/** Checks that a connection serves another request. */
async function expectUsable({ begin, receive }: ConnectionInParts): Promise<void> {
  await begin('GET /healthz')
  expect(await receive()).toMatchObject({ status: 200 })
}

describe('an upload whose client pauses', () => {
  test('fails when its session is closed', async () => {
    const session = await createOpened()
    const uploading = await uploadHalf(session)
    await client().closeSession({ session_id: session })
    expect(await uploading.receive()).toMatchObject({
      status: 410,
      body: { code: 'session_closed', details: { reason: 'deleted' } },
    })
    uploading.socket.destroy()
  })

  test('fails when its session expires', async () => {
    const session = await create({ timeout_secs: 2 })
    const uploading = await connection()
    await uploading.begin(fileAt(session, 'half.bin'), { 'content-length': quota }, 'begun')
    expect(await uploading.receive()).toMatchObject({
      status: 410,
      body: { code: 'session_closed', details: { reason: 'lifetime' } },
    })
    uploading.socket.destroy()
  })

  test('fails when its session is closed before the first page has opened', async () => {
    const session = await create()
    const uploading = await connection()
    await uploading.begin(fileAt(session, 'half.bin'), { 'content-length': quota }, 'begun')
    await client().closeSession({ session_id: session })
    expect(await uploading.receive()).toMatchObject({ status: 410, body: { code: 'session_closed' } })
    uploading.socket.destroy()
    // Below the time that a browser has to open a page.
  })

  test('fails when the browser of its session is killed', async () => {
    const session = await createOpened()
    const uploading = await uploadHalf(session)
    for (const { pid } of (await client().getEngineStatus({})).browsers) process.kill(pid, 'SIGKILL')
    expect(await uploading.receive()).toMatchObject({ status: 503, body: { code: 'worker_lost' } })
    uploading.socket.destroy()
  })

  test('leaves its connection to the next request once the client has sent the rest', async () => {
    const session = await createOpened()
    const uploading = await connection()
    await uploading.begin(fileAt(session, 'half.bin'), { 'content-length': long }, 'begun')
    await client().closeSession({ session_id: session })
    expect(await uploading.receive()).toMatchObject({ status: 410 })
    await uploading.send(Buffer.alloc(long - 'begun'.length))
    await expectUsable(uploading)
    uploading.socket.destroy()
  })

  test('is discarded when the client disconnects', async () => {
    const session = await createOpened()
    const uploading = await uploadHalf(session)
    const begun = await lastUse(session)
    uploading.socket.destroy()
    await waitUntil(async () => (await lastUse(session)) !== begun)
    expect(await client().listSessionFiles({ session_id: session })).toMatchObject({ files: [] })
    // It does not count towards the quota.
    expect((await put(session, quota)).status).toBe(200)
    await client().closeSession({ session_id: session })
  })
})

describe('a request that is rejected before its body has arrived', () => {
  test.each([
    ['a body that is too large', 'POST /v1/scrape', 413, 'payload_too_large'],
    ['an unknown session', fileAt('ses_000000000000000000000000', 'a.bin'), 404, 'session_not_found'],
  ])('gets its response without the rest: %s', async (_, line, status, code) => {
    const rejected = await connection()
    await rejected.begin(line, { 'content-length': long, 'content-type': 'application/json' })
    expect(await rejected.receive()).toMatchObject({ status, body: { code } })
    await rejected.send(Buffer.alloc(long))
    await expectUsable(rejected)
    rejected.socket.destroy()
  })

  test('gets its response also if the client sends everything first', async () => {
    const session = await createOpened()
    const rejected = await connection()
    await sendBeforeReading(rejected, fileAt(session, 'too-large.bin'), { length: long })
    expect(await rejected.receive()).toMatchObject({ status: 507, body: { code: 'no_space' } })
    await expectUsable(rejected)
    await sendBeforeReading(rejected, 'POST /v1/scrape', { length: long, 'content-type': 'application/json' })
    expect(await rejected.receive()).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    await expectUsable(rejected)
    rejected.socket.destroy()
    await client().closeSession({ session_id: session })
  })
})

test('a download whose session ends is complete', async () => {
  const session = await createOpened()
  await put(session, quota)
  const input = { session_id: session, name: 'whole.bin' }
  const { bytes } = await download(homes.transports.http, 'GET /sessions/{session_id}/files/{name}', input)
  let received = 0
  for await (const { length } of bytes) {
    if (received === 0) await client().closeSession({ session_id: session })
    received += length
  }
  expect(received).toBe(quota)
  expect(await failureOf(client().listSessionFiles({ session_id: session }))).toMatchObject({ code: 'session_closed' })
})
