import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

/** A script that starts a download every 10 ms. */
const downloading = (path: string) => `setInterval(() => {
    const link = document.createElement('a')
    link.href = '${path}?' + Math.random()
    link.download = 'file'
    link.click()
  }, 10)`

const floods = {
  dialogs: 'setInterval(() => { alert("once more"); confirm("sure?") }, 1)',
  popups: 'setInterval(() => { for (let n = 0; n < 5; n += 1) window.open("/blank?" + Math.random()) }, 5)',
  console: 'setInterval(() => { for (let n = 0; n < 100; n += 1) console.log("x".repeat(2000), { n }) }, 1)',
  downloads: downloading('/file'),
  // Limited to what CI machines can spare.
  memory: 'const kept = []; setInterval(() => kept.length < 25 && kept.push(new Uint8Array(16e6).fill(7)), 5)',
}

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes({ allowPrivate: ['127.0.0.0/8'] }),
    serveSite({
      '/': '<title>Home</title><h1>Home</h1>',
      '/blank': '<title>Blank</title>',
      '/file': (_request, response) => {
        response.setHeader('content-disposition', 'attachment; filename=file.bin')
        response.end(Buffer.alloc(1_000_000, 1))
      },
      '/many': `<title>Many</title><script>${downloading('/small')}</script>`,
      '/small': (_request, response) => {
        response.setHeader('content-disposition', 'attachment; filename=small.bin')
        response.end('small')
      },
      ...Object.fromEntries(
        Object.entries(floods).map(([name, script]) => [
          `/${name}`,
          `<title>${name}</title><script>${script}</script>`,
        ]),
      ),
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const client = () => homes.clients.http

describe.each(Object.keys(floods))('a page that floods %s', (name) => {
  test('only affects its own session, which can be closed', async () => {
    const other = (await client().createSession({ start_url: site.url })).session_id!
    const flooded = (await client().createSession({})).session_id!
    await client().runCommands({
      session_id: flooded,
      commands: [{ command: 'navigate_to', data: { url: `${site.url}/${name}`, timeout_ms: 15_000 } }],
    })
    // The other session keeps working.
    for (let round = 0; round < 10; round += 1) {
      const answer = await client().runCommands({
        session_id: other,
        commands: [{ command: 'navigate_to', data: { url: site.url, timeout_ms: 120_000 } }, { command: 'get_title' }],
      })
      expect(answer).toMatchObject({ success: true })
    }
    await waitUntil(() => limitsHold(flooded))
    await client().closeSession({ session_id: flooded })
    expect(await valueOf(client(), other, 'document.title')).toBe('Home')
    await client().closeSession({ session_id: other })
    const next = (await client().createSession({ start_url: site.url })).session_id!
    expect(await valueOf(client(), next, '1 + 1')).toBe(2)
    await client().closeSession({ session_id: next })
  })
})

/** Returns whether the limits for tabs and stored events hold. */
async function limitsHold(sessionId: string): Promise<boolean> {
  const { tabs } = await client().getSession({ session_id: sessionId })
  return tabs <= limits.session.tabs
}

test('the number of downloads of a session is limited; further ones are reported but not stored', async () => {
  const flooded = (await client().createSession({ start_url: `${site.url}/many` })).session_id!
  const all = homes.transports.http
  let kept = 0
  for await (const event of follow(all, 'GET /stream/sse', { session_id: flooded, replay: 'all' })) {
    if (event.type !== 'download.finished') continue
    const { success, error } = (event as unknown as { data: { success: boolean; error?: string } }).data
    if (success) kept += 1
    else {
      expect(error).toBe('the session has reached its download limit')
      break
    }
  }
  expect(kept).toBeLessThanOrEqual(limits.session.downloads)
  await client().closeSession({ session_id: flooded })
})

test('a result of a page that is too large is rejected, and the session continues', async () => {
  const id = (await client().createSession({ start_url: site.url })).session_id!
  const commands = [{ command: 'evaluate', data: { expression: "'x'.repeat(150e6)", timeout_ms: 120_000 } }]
  expect(await client().runCommands({ session_id: id, commands })).toMatchObject({
    success: false,
    error: expect.stringContaining('larger than 128 MiB'),
  })
  expect(await valueOf(client(), id, 'document.title')).toBe('Home')
  await client().closeSession({ session_id: id })
})
