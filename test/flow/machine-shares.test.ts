/** Processors and memory, which the browsers of keys share: one key that uses more than its share does not stop others. */
import { readdir } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { processStat } from '../../src/core/process/process-facts.ts'
import { ThreadPool } from '../../src/core/process/thread-pool.ts'
import {
  type Capacity,
  isExcessive,
  KeyShares,
  processToEnd,
  shareOfKeys,
} from '../../src/engine/browser/shares/key-shares.ts'
import type { Measurement } from '../../src/engine/browser/shares/process-table.ts'
import { builtOnce } from '../support/build-once.ts'
import { openHomes, type Homes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { chromiumProcesses, pageProcesses } from '../support/processes.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitFor, waitUntil } from '../support/wait.ts'

const mebibytes = 600
/** Enough to use more than a processor, on a busy machine too. */
const loops = 20
const worker = `new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`

let site: Site
let homes: Homes
let hostile: KeyHolder
let other: KeyHolder
const logged: string[] = []

beforeAll(async () => {
  site = await serveSite({
    '/': '<!doctype html><title>Home</title><main><h1>Home</h1><p>Words of a page.</p></main>',
    '/loops': `<!doctype html><title>Loops</title><script>
      const workers = Array.from({ length: ${loops} }, () => ${worker})
      const stop = () => workers.forEach((one) => one.terminate())</script>`,
    '/memory': `<!doctype html><title>Memory</title><main>Words of a page.</main><script>
      const all = []
      const go = () => { all.push(new Uint8Array(2e7).fill(1)); setTimeout(go, 10) }
      addEventListener('load', go)</script>`,
  })
})
afterEach(() => homes?.close())
afterAll(() => site?.close())

async function openShared(config: Parameters<typeof openHomes>[0]): Promise<void> {
  logged.length = 0
  homes = await openHomes({ ...config, log: (_level, message) => void logged.push(message) })
  ;[hostile, other] = [await keyHolder(homes), await keyHolder(homes)]
}

const open = async ({ client }: KeyHolder, path: string) =>
  (await client.createSession({ start_url: site.url + path })).session_id!

/** Returns the renderers of a key that has sessions in one browser. */
const renderersOf = async ({ client }: KeyHolder) => {
  const { sessions } = await client.listSessions({})
  const { browsers } = await homes.engine.status()
  return pageProcesses(browsers.find(({ worker_id }) => worker_id === sessions[0]!.worker_id)!.pid)
}

/** Returns the priorities of the threads of a process; those that have ended are left out. */
async function prioritiesOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  return threads.flatMap((thread) => {
    try {
      return [getPriority(Number(thread))]
    } catch {
      return []
    }
  })
}
const isLow = async (pid: number) => {
  const all = await prioritiesOf(pid)
  return all.length > 0 && all.every((priority) => priority === 19)
}

const works = async ({ client }: KeyHolder, session_id: string) => {
  const commands = [command('navigate_to', { url: site.url }), command('get_text', { selector: 'h1' })]
  const { results } = await client.runCommands({ session_id, commands })
  expect(results).toMatchObject([{ success: true }, { data: { result: { value: 'Home' } } }])
}

/** Whether this user may raise the priority of a process, which tests of a restored one need. */
const mayRaise = (() => {
  try {
    setPriority(process.pid, getPriority() - 1)
    setPriority(process.pid, getPriority() + 1)
    return true
  } catch {
    return false
  }
})()

describe.skipIf(process.platform !== 'linux')('processors', () => {
  test('go to other keys first when a key uses more than its share', async () => {
    // The loops use more than half of this, also on a busy machine.
    await openShared({ pool: { warm: 0, cores: 1 } })
    const session = await open(other, '/')
    const looping = [await open(hostile, '/loops'), await open(hostile, '/loops')]
    const renderers = await renderersOf(hostile)
    expect(renderers).toHaveLength(2)
    await waitUntil(async () => (await Promise.all(renderers.map(isLow))).every(Boolean))
    await works(other, session)
    for (const pid of await renderersOf(other)) expect(await isLow(pid)).toBe(false)
    if (!mayRaise) return
    const { client } = hostile
    for (const session_id of looping)
      await client.runCommands({ session_id, commands: [command('evaluate', { expression: 'stop()' })] })
    await waitUntil(async () => !(await Promise.all(renderers.map(isLow))).some(Boolean))
  })

  test('are measured in a worker thread, for all processes of a session', async () => {
    const worker = { program: join(await builtOnce(), 'measuring-worker.mjs'), threads: 1, heapMb: 32 }
    const threads = new ThreadPool<ReadonlySet<number>, Measurement>(worker)
    onTestFinished(() => threads.close())
    const { uses } = await threads.run(new Set([processStat(process.pid)!.session]))
    expect(uses.map(({ pid }) => pid)).toContain(process.pid)
  })

  test('are shared equally by keys that are active', () => {
    const active = { cores: 0.5, normalCores: 0.5 }
    const idle = { cores: 0, normalCores: 0 }
    const share = (keys: number, capacity: Capacity) =>
      shareOfKeys([idle, ...Array.from({ length: keys }, () => active)], capacity)
    expect([1, 2, 4].map((keys) => share(keys, { cores: 8, spareCores: 8 }))).toEqual([4, 4, 2])
    // Other programs use the rest.
    expect(share(2, { cores: 8, spareCores: 0 })).toBe(0.5)
    // The machine has more processors than the container may use.
    expect(share(4, { cores: 2, spareCores: 60 })).toBe(0.5)
  })

  test.each([
    ['more than half of the machine', { cores: 1.1, normalCores: 1.1 }, [], 0.9, true],
    ['half of the machine', { cores: 1, normalCores: 1 }, [], 1, false],
    ['what others do not need', { cores: 0.9, normalCores: 0.9 }, [{ cores: 0, normalCores: 0 }], 0, false],
    ['more than others, who need it', { cores: 0.9, normalCores: 0.9 }, [{ cores: 0.1, normalCores: 0.1 }], 0, true],
    ['hardly more than others', { cores: 0.6, normalCores: 0.6 }, [{ cores: 0.5, normalCores: 0.5 }], 0, false],
    [
      'more than a key of low priority',
      { cores: 0.9, normalCores: 0.9 },
      [{ cores: 0.2, normalCores: 0.05 }],
      0.15,
      false,
    ],
    ['what is left, beside others', { cores: 0.9, normalCores: 0.1 }, [{ cores: 0.1, normalCores: 0.1 }], 0.8, true],
  ] as const)('%s', (_what, use, others, spareCores, expected) => {
    expect(isExcessive(use, [use, ...others], { cores: 2, spareCores })).toBe(expected)
  })

  test('are not measured without keys', () => {
    const shares = new KeyShares({ log: () => {} })
    expect(shares.join(process.pid, null)).toBeUndefined()
    shares.join(process.pid, 'key_a')!.leave()
  })
})

describe.skipIf(process.platform !== 'linux')('memory', () => {
  test('beyond the share of a key ends its largest page with the reason', async () => {
    await openShared({ pool: { warm: 0 }, browserMemoryBytes: mebibytes * 1024 * 1024 })
    const session = await open(other, '/')
    const session_id = await open(hostile, '/memory')
    const failure = await waitFor('the end of the page', async () => {
      const { results } = await hostile.client.runCommands({ session_id, commands: [command('get_title')] })
      return results[0]!.success ? null : results[0]!
    })
    const reason = `the page was ended: the browsers of its key used more than ${mebibytes} MiB of memory`
    expect(failure).toMatchObject({ code: 'page_crashed', error: expect.stringContaining(reason) })
    expect(logged).toContain('ended the largest browser process of a key that used too much memory')
    await works(other, session)
    // The tab was reloaded, with a page that needs as much memory again.
    const leave = { session_id, commands: [command('navigate_to', { url: site.url })] }
    await waitUntil(async () => (await hostile.client.runCommands(leave)).success)
    await works(hostile, session_id)
  })

  test.each([
    ['the largest page', [300, 250, 200, 100], 2],
    ['a browser that uses more than all its pages', [500, 250, 200], 1],
    ['a browser without pages', [300], 1],
    ['a page rather than the browser of many', [300, 120, 200, 100], 3],
  ])('beyond the share of a key ends %s', (_what, bytes, expected) => {
    // The first one is the browser.
    const processes = bytes.map((size, at) => ({ pid: at + 1, session: 1, bytes: size }))
    expect(processToEnd(processes).pid).toBe(expected)
  })

  test('beyond the share of a key ends the page of a scrape with the reason', async () => {
    await openShared({ browserMemoryBytes: mebibytes * 1024 * 1024 })
    const request = { url: `${site.url}/memory`, render: 'browser', wait_for: 60_000, timeout: 120_000 } as const
    const [answer] = await Promise.all([
      hostile.client.scrape(request),
      other.client.scrape({ url: site.url, render: 'browser' }).then((scraped) => {
        expect(scraped).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
      }),
    ])
    expect(answer).toMatchObject({ success: false, code: 'page_crashed' })
    expect(answer.error).toContain(`used more than ${mebibytes} MiB of memory`)
  })
})

describe.skipIf(process.platform !== 'linux')('browsers that render pages', () => {
  test('are not shared by keys', async () => {
    await openShared({ pool: { warm: 0 } })
    const before = new Set(await chromiumProcesses('browser'))
    const scrape = ({ client }: KeyHolder) => client.scrape({ url: site.url, render: 'browser' })
    expect(await scrape(hostile)).toMatchObject({ success: true })
    const ofHostile = (await chromiumProcesses('browser')).filter((pid) => !before.has(pid))
    for (const pid of ofHostile) process.kill(pid, 'SIGSTOP')
    try {
      expect(await scrape(other)).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
    } finally {
      for (const pid of ofHostile) process.kill(pid, 'SIGCONT')
    }
    expect(await scrape(hostile)).toMatchObject({ success: true })
    const after = (await chromiumProcesses('browser')).filter((pid) => !before.has(pid))
    expect(after.length).toBeGreaterThan(ofHostile.length)
  })
})
