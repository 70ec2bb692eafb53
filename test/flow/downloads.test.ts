/** Endless downloads: the download quota of a session is enforced while they run. */
import { readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { open, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const mebibyte = 1024 * 1024
const quota = 4 * mebibyte
const tooMuch = 'the session has reached its download limit'

let homes: Homes
let site: Site
/** Downloads that are in progress. */
const sending = new Set<ServerResponse>()

/** Sends chunks until the client disconnects, or until `bytes` are sent. */
function send(response: ServerResponse, bytes = Infinity): void {
  sending.add(response)
  response.setHeader('content-disposition', 'attachment; filename=file.bin')
  const chunk = Buffer.alloc(mebibyte / 4, 1)
  let left = bytes
  const timer = setInterval(() => {
    if (left > 0) response.write(chunk)
    left -= chunk.length
  }, 10)
  response.once('close', () => {
    clearInterval(timer)
    sending.delete(response)
  })
}

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes({ downloadBytes: quota }),
    serveSite({
      '/': '<title>Home</title><iframe name=below></iframe><iframe name=beside></iframe>',
      '/small': (_request, response) => {
        response.setHeader('content-disposition', 'attachment; filename=small.bin')
        response.end(Buffer.alloc(1000, 1))
      },
      '/endless': (_request, response) => send(response),
      '/three-and-waits': (_request, response) => send(response, 3 * mebibyte),
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const client = () => homes.clients.http

interface Finished {
  readonly success: boolean
  readonly filename: string
  readonly error?: string
  readonly path?: string
}

/** Returns the first `count` finished downloads of a session, in order. */
async function finishedDownloads(sessionId: string, count: number): Promise<Finished[]> {
  const found: Finished[] = []
  const query = { session_id: sessionId, replay: 'all', types: 'download.finished' }
  for await (const event of follow(homes.transports.http, 'GET /stream/sse', query)) {
    if (event.type === 'download.finished') found.push((event as unknown as { data: Finished }).data)
    if (found.length === count) break
  }
  return found
}

const ways = {
  'its tab': 'location.href = "/endless"',
  'a frame': 'window.below.location.href = "/endless"',
  'a tab of its own that goes at once': 'void window.open("/endless")',
}

describe.each(Object.entries(ways))('an endless download in %s', (_way, script) => {
  test('is aborted while it runs, and leaves nothing on disk', async () => {
    const id = (await client().createSession({ start_url: site.url })).session_id!
    await open(client(), id, `${site.url}/small`)
    const [small] = await finishedDownloads(id, 1)
    expect(small).toMatchObject({ success: true, filename: 'small.bin' })
    await valueOf(client(), id, script)
    expect((await finishedDownloads(id, 2))[1]).toMatchObject({ success: false, filename: 'file.bin', error: tooMuch })
    await waitUntil(() => sending.size === 0)
    const incoming = join(small!.path!, '../../../artifacts')
    await waitUntil(async () => (await readdir(incoming, { recursive: true })).length === 0)
    // There is no retry.
    await open(client(), id, `${site.url}/small`)
    expect((await finishedDownloads(id, 3))[2]).toMatchObject({
      success: false,
      filename: 'small (2).bin',
      error: tooMuch,
    })
    await client().closeSession({ session_id: id })
  })
})

test('concurrent downloads share the quota of their session, but not with other sessions', async () => {
  const [one, other] = await Promise.all(
    [0, 1].map(async () => (await client().createSession({ start_url: site.url })).session_id!),
  )
  // A different URL for each: the browser requests the same one only once at a time.
  const start = (session_id: string, frame: string) => {
    const expression = `window.${frame}.location.href = '/three-and-waits?' + Math.random()`
    // Not a command, which would wait for the download.
    return client().cdp({ session_id, method: 'Runtime.evaluate', params: { expression } })
  }
  await start(other!, 'below')
  await start(one!, 'below')
  await waitUntil(() => sending.size === 2)
  await start(one!, 'beside')
  const aborted = { success: false, error: tooMuch }
  expect(await finishedDownloads(one!, 2)).toMatchObject([aborted, aborted])
  await open(client(), other!, `${site.url}/small`)
  expect(await finishedDownloads(other!, 1)).toMatchObject([{ success: true, filename: 'small.bin' }])
  await Promise.all([one!, other!].map((id) => client().closeSession({ session_id: id })))
  await waitUntil(() => sending.size === 0)
})

test('an endless download in a browser of the caller is aborted, too', async () => {
  const foreign = await startForeignBrowser()
  try {
    const id = (await client().createSession({ cdp_url: foreign.url, start_url: site.url })).session_id!
    await valueOf(client(), id, ways['its tab'])
    expect(await finishedDownloads(id, 1)).toMatchObject([{ success: false, filename: 'file.bin', error: tooMuch }])
    await waitUntil(() => sending.size === 0)
    await client().closeSession({ session_id: id })
  } finally {
    await foreign.close()
  }
})
