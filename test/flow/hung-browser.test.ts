import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../support/client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { chromiumProcesses } from '../support/processes.ts'
import { failureOf, isRunning, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
const logged: string[] = []

/** Opens an engine that kills a suspended browser after this time. A busy machine needs seconds for an answer. */
async function openWithGrace(graceMs: number): Promise<void> {
  const log = (_level: string, message: string) => void logged.push(message)
  const pool = { warm: 1, health: { everyMs: 100, answerMs: 3000, graceMs } }
  homes = await openHomes({ pool, allowPrivate: ['127.0.0.0/8'], log })
}

beforeAll(async () => {
  site = await serveSite({ '/': '<title>Home</title><main><h1>Home</h1><p>Words of a page.</p></main>' })
})
afterEach(() => homes.close())
afterAll(() => site.close())

const client = (): Client => homes.clients.http
const create = async () => (await client().createSession({ start_url: site.url })).session_id!
const browsers = async () => (await client().getEngineStatus({})).browsers

describe.skipIf(process.platform !== 'linux')('a suspended browser', () => {
  test('gets no new sessions, and is used again once it continues', async () => {
    // Much longer than it is suspended, even on a busy machine.
    await openWithGrace(120_000)
    const session_id = await create()
    const { pid } = (await browsers())[0]!
    process.kill(pid, 'SIGSTOP')
    // Before the next regular check.
    const other = await create()
    expect(await valueOf(client(), other, 'document.title')).toBe('Home')
    expect(await browsers()).toMatchObject([
      { pid, responsive: false, sessions: 1 },
      { responsive: true, sessions: 1 },
    ])
    expect(await homes.engine.readiness()).toMatchObject({ browser: { ok: true } })
    const evaluation = { command: 'evaluate', data: { expression: '1', timeout_ms: 200 } }
    expect(await client().runCommands({ session_id, commands: [evaluation] })).toMatchObject({
      code: 'timeout',
      results: [{ details: { browser: 'unresponsive' } }],
    })
    process.kill(pid, 'SIGCONT')
    await waitUntil(async () => (await browsers()).every(({ responsive }) => responsive))
    expect(await valueOf(client(), session_id, 'document.title')).toBe('Home')
    await create()
    expect(await browsers()).toMatchObject([{ pid, sessions: 2 }, { sessions: 1 }])
  })

  test('is killed after a while, and its sessions end with a reason', async () => {
    await openWithGrace(8000)
    const session_id = await create()
    const running = client().runCommands({
      session_id,
      commands: [{ command: 'evaluate', data: { expression: 'new Promise(() => {})' } }],
    })
    const { pid } = (await browsers()).find(({ sessions }) => sessions > 0)!
    process.kill(pid, 'SIGSTOP')
    expect(await running).toMatchObject({ code: 'worker_lost', results: [{ details: { reason: 'crashed' } }] })
    expect(await failureOf(client().observe({ session_id }))).toMatchObject({
      code: 'session_closed',
      details: { reason: 'crashed' },
    })
    expect(await client().getSession({ session_id })).toMatchObject({ status: 'failed', end_reason: 'crashed' })
    await waitUntil(() => !isRunning(pid))
    await create()
  })

  test('for rendering pages is replaced', async () => {
    await openWithGrace(8000)
    const scrape = () => client().scrape({ url: site.url, render: 'browser' })
    const before = new Set(await chromiumProcesses('browser'))
    expect(await scrape()).toMatchObject({ success: true })
    const pids = (await chromiumProcesses('browser')).filter((pid) => !before.has(pid))
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    await waitUntil(() => logged.includes('a rendering browser does not answer'))
    expect(await scrape()).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
    await waitUntil(() => !pids.some(isRunning))
    expect(await scrape()).toMatchObject({ success: true })
  })
})
