import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { BaxError } from '../../src/core/errors/errors.ts'
import { type HeldPage, heldPages } from '../support/held-pages.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ChromiumProcess, chromiumProcesses } from '../support/processes.ts'
import { command, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let held: Record<'batch' | 'scrape' | 'crawl', HeldPage>

beforeAll(async () => {
  held = { batch: heldPages(), scrape: heldPages(), crawl: heldPages() }
  ;[homes, site] = await Promise.all([
    openHomes({ allowPrivate: ['127.0.0.0/8'] }),
    serveSite({
      '/': '<title>Home</title><main><h1>Home</h1><p>Some words of a page.</p></main>',
      '/tree/': '<title>Tree</title><main><h1>Tree</h1><p>Words.</p><a href="/tree/leaf">leaf</a></main>',
      '/tree/leaf': '<title>Leaf</title><main><h1>Leaf</h1><p>Words.</p></main>',
      '/crawled/': '<title>Start</title><main><h1>Start</h1><p>Words.</p><a href="/crawled/held">held</a></main>',
      '/crawled/held': held.crawl.page,
      '/held/batch': held.batch.page,
      '/held/scrape': held.scrape.page,
    }),
  ])
})
afterAll(async () => {
  for (const page of Object.values(held)) page.release()
  await homes.close()
  await site.close()
})

const client = () => homes.clients.http

/** Returns the error code of an operation; null if it succeeded. */
async function codeOf(work: Promise<object>): Promise<string | null> {
  try {
    const { success, code } = (await work) as { success?: boolean; code?: string }
    return success === false ? (code ?? 'no code') : null
  } catch (error) {
    if (error instanceof BaxError) return error.code
    throw error
  }
}

/** Returns the error code of a crawl; null if it succeeded. */
async function crawlCode(work: ReturnType<ReturnType<typeof client>['crawl']>): Promise<string | null> {
  const { errors = [], success } = (await work) as { errors?: { code: string }[]; success?: boolean }
  return errors[0]?.code ?? (success === true ? null : 'no code')
}

interface Affected {
  /** Possible error codes of each operation; null if it may also succeed. */
  readonly batch: readonly (string | null)[]
  readonly page: readonly (string | null)[]
  /** State of the session afterwards. */
  readonly session: 'ready' | 'failed'
}

const parts: Record<ChromiumProcess, Affected> = {
  renderer: { batch: ['page_crashed'], page: ['page_crashed', null], session: 'ready' },
  // Chromium restarts it, and pages keep running.
  'gpu-process': { batch: [null], page: [null], session: 'ready' },
  // Pending requests are lost; Chromium restarts it.
  network: { batch: ['evaluate_failed'], page: ['connection_failed', 'navigation_aborted', null], session: 'ready' },
  browser: { batch: ['worker_lost'], page: ['browser_lost', 'worker_lost', 'page_crashed', null], session: 'failed' },
}

describe.skipIf(process.platform !== 'linux').each(Object.entries(parts) as [ChromiumProcess, Affected][])(
  'when the %s process is killed',
  (part, may) => {
    test('fails the running operations with its code, runs the next ones, and reports the state to sessions', async () => {
      const { session_id } = await client().createSession({ start_url: site.url })
      const id = session_id!
      const seen: string[] = []
      const watching = (async () => {
        const query = { session_id: id, types: 'frame,page.error,session.closed' }
        for await (const { type } of follow(homes.transports.http, 'GET /stream/sse', query)) seen.push(type)
      })()
      await waitUntil(() => seen.includes('frame'))
      const batch = codeOf(
        client().runCommands({
          session_id: id,
          commands: [command('evaluate', { expression: `fetch('/held/batch').then((answer) => answer.status)` })],
        }),
      )
      const scrape = codeOf(client().scrape({ url: `${site.url}/held/scrape`, render: 'browser' }))
      const crawl = crawlCode(client().crawl({ url: `${site.url}/crawled/`, render: 'browser' }))
      await Promise.all(Object.values(held).map((page) => page.requested()))

      const killed = await chromiumProcesses(part)
      expect(killed.length).toBeGreaterThan(0)
      for (const pid of killed) process.kill(pid, 'SIGKILL')
      // Respond to requests that Chromium repeats, too.
      const answering = setInterval(() => Object.values(held).forEach((page) => page.release()), 50)
      const outcomes = await Promise.all([batch, scrape, crawl]).finally(() => clearInterval(answering))
      expect(may.batch).toContain(outcomes[0])
      expect(may.page).toContain(outcomes[1])
      expect(may.page).toContain(outcomes[2])

      expect(await client().getSession({ session_id: id })).toMatchObject({
        status: may.session,
        end_reason: may.session === 'failed' ? 'worker_lost' : null,
      })
      if (may.session === 'failed') {
        await watching
        expect(seen.at(-1)).toBe('session.closed')
      }
      const next = may.session === 'ready' ? id : (await client().createSession({})).session_id!
      const navigated = await client().runCommands({
        session_id: next,
        commands: [command('navigate_to', { url: site.url })],
      })
      expect(navigated).toMatchObject({ success: true })
      expect(await valueOf(client(), next, 'document.title')).toBe('Home')
      const observed = await client().observe({ session_id: next })
      expect(observed).toMatchObject({ success: true, title: 'Home' })
      expect(await codeOf(client().scrape({ url: site.url, render: 'browser' }))).toBeNull()
      expect(await crawlCode(client().crawl({ url: `${site.url}/tree/`, render: 'browser' }))).toBeNull()
      await client().closeSession({ session_id: next })
      await watching
    })
  },
)
