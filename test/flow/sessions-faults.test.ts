import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import type { Client } from '../support/client.ts'
import { startEngineHost } from '../support/engine-host.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type Homes, openHomes, usualHomes } from '../support/homes.ts'
import { noFullBrowser, testUnless } from '../support/needs.ts'
import { pageProcesses } from '../support/processes.ts'
import { command, failureOf, isRunning, valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<title>Home</title><h1>Home</h1>',
      '/clinging': `<title>Clinging</title><script>onbeforeunload = () => setTimeout(() => { while (true); })</script>`,
      '/busy': '<title>Busy</title><script>onload = () => setTimeout(() => { while (true); }, 50)</script>',
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const hang = command('evaluate', { expression: 'while (true);' })

describe.each(usualHomes)('failures (%s)', (home) => {
  const client = (): Client => homes.clients[home]
  const create = async (input: Parameters<Client['createSession']>[0] = {}): Promise<string> =>
    (await client().createSession({ headless: true, ...input })).session_id!
  afterEach(async () => {
    const { sessions } = await client().listSessions({})
    await Promise.all(sessions.map(({ session_id }) => client().closeSession({ session_id })))
  })
  const events = async (session_id: string, last: string) => {
    const seen: { type: string; data: Record<string, unknown> }[] = []
    for await (const event of follow(homes.transports[home], 'GET /stream/sse', { session_id, replay: 'all' })) {
      seen.push(event as never)
      if (event.type === last) break
    }
    return seen
  }

  testUnless(noFullBrowser)(
    'a killed browser ends only its own sessions, with a reason, and the next session uses another',
    async () => {
      const lost = await create({ start_url: site.url })
      const stealth = await create({ disable_automation_detection: true, start_url: site.url })
      const watched = events(lost, 'session.closed')
      const running = client().runCommands({
        session_id: lost,
        commands: [command('evaluate', { expression: 'new Promise(() => {})' }), command('get_title')],
      })
      await events(lost, 'command.started')
      const { browsers } = await client().getEngineStatus({})
      const { pid } = browsers.find(({ kind }) => kind === 'headless')!
      process.kill(pid, 'SIGKILL')

      expect(await running).toMatchObject({ success: false, code: 'worker_lost', steps_completed: 0 })
      expect((await watched).at(-1)).toMatchObject({ type: 'session.closed', data: { reason: 'worker_lost' } })
      const title = client().runCommands({ session_id: lost, commands: [command('get_title')] })
      expect(await failureOf(title)).toMatchObject({ code: 'session_closed', details: { reason: 'worker_lost' } })
      expect(await client().getSession({ session_id: lost })).toMatchObject({
        status: 'failed',
        end_reason: 'worker_lost',
        url: `${site.url}/`,
        title: 'Home',
      })
      expect(await valueOf(client(), stealth, 'document.title')).toBe('Home')

      const next = await create({ start_url: site.url })
      expect(await valueOf(client(), next, 'document.title')).toBe('Home')
      const recovered = await client().getEngineStatus({})
      expect(recovered.browsers.find(({ kind }) => kind === 'headless')!.pid).not.toBe(pid)
    },
  )

  test('a hung page blocks neither the list, nor other sessions, nor its own close', async () => {
    const hanging = await create({ start_url: site.url })
    const other = await create({ start_url: site.url })
    const running = client().runCommands({ session_id: hanging, commands: [hang] })
    await events(hanging, 'command.started')
    const { sessions } = await client().listSessions({})
    expect(sessions.find(({ session_id }) => session_id === hanging)).toMatchObject({ title: 'Home' })
    expect(await valueOf(client(), other, '1 + 1')).toBe(2)
    await client().closeSession({ session_id: hanging })
    // Otherwise the command would have timed out before.
    expect(await running).toMatchObject({ success: false, code: 'session_closed' })
    expect(await valueOf(client(), other, 'document.title')).toBe('Home')
  })

  test('navigates and reloads a page whose script hangs', async () => {
    const busy = await create({ start_url: `${site.url}/busy` })
    const run = (...commands: ReturnType<typeof command>[]) => client().runCommands({ session_id: busy, commands })
    // Once the script runs, nothing is found out about the page.
    await waitUntil(
      async () => (await run(command('wait_for_element', { selector: 'h1', timeout_ms: 300 }))).code === 'timeout',
    )
    expect(await run(command('refresh'))).toMatchObject({ success: true })
    const left = await run(command('navigate_to', { url: site.url }), command('get_title'))
    expect(left).toMatchObject({ success: true, results: [{}, { data: { result: { value: 'Home' } } }] })
  })

  test.skipIf(process.platform !== 'linux')(
    'a crashed page fails its command, and the session continues with a new tab',
    async () => {
      const id = await create({ start_url: site.url })
      await valueOf(client(), id, 'document.cookie = "kept=1"')
      const running = client().runCommands({
        session_id: id,
        commands: [command('evaluate', { expression: 'new Promise(() => {})' })],
      })
      await events(id, 'command.started')
      const { browsers } = await client().getEngineStatus({})
      const pages = await pageProcesses(browsers.find(({ kind }) => kind === 'headless')!.pid)
      expect(pages.length).toBeGreaterThan(0)
      for (const pid of pages) process.kill(pid, 'SIGKILL')
      expect(await running).toMatchObject({ success: false, code: 'page_crashed' })
      const after = await client().runCommands({
        session_id: id,
        commands: [command('navigate_to', { url: site.url }), command('evaluate', { expression: 'document.cookie' })],
      })
      expect(after).toMatchObject({ success: true })
      expect(after.results[1]!.data).toEqual({ result: { type: 'string', value: 'kept=1' } })
      expect(await client().getSession({ session_id: id })).toMatchObject({ status: 'ready', tabs: 1 })
    },
  )

  // Pages behave the same in every location: wait for them only once.
  if (home !== 'http') return

  test('replaces a page that hangs during a navigation by a new tab', async () => {
    const hanging = await create({ start_url: site.url })
    const run = (...commands: ReturnType<typeof command>[]) => client().runCommands({ session_id: hanging, commands })
    const leave = `setTimeout(() => { location.href = '/busy'; while (true); }, 20); document.cookie = 'kept=1'`
    expect(await run(command('evaluate', { expression: leave }))).toMatchObject({ success: true })
    await waitUntil(
      async () => (await run(command('wait_for_element', { selector: 'h2', timeout_ms: 500 }))).code === 'timeout',
    )
    const cookie = command('evaluate', { expression: 'document.cookie' })
    const navigated = await run(command('navigate_to', { url: site.url }), cookie)
    expect(navigated).toMatchObject({ success: true, results: [{}, { data: { result: { value: 'kept=1' } } }] })
    expect(await client().getSession({ session_id: hanging })).toMatchObject({ title: 'Home', tabs: 1 })
  })

  test('leaves a page that hangs in an unload handler', async () => {
    const held = await create({ start_url: `${site.url}/clinging` })
    const commands = [command('navigate_to', { url: site.url }), command('get_title')]
    expect(await client().runCommands({ session_id: held, commands })).toMatchObject({
      success: true,
      results: [{}, { data: { result: { value: 'Home' } } }],
    })
  })
})

describe('browser process', () => {
  test('reports an unusable configured browser, and uses no other', async () => {
    const own = await openHomes({ browser: '/nowhere/chromium' })
    try {
      const error = await failureOf(own.clients.unix.createSession({}))
      expect(error).toMatchObject({ code: 'browser_not_found', status: 503, exit: 3 })
      expect(error.hint).toContain('/nowhere/chromium')
      const { status, headers } = await fetch(`${own.baseUrl}/sessions`, { method: 'POST' })
      // Repeated requests have the same result, and tell clients not to retry.
      expect([status, headers.get('x-should-retry')]).toEqual([503, 'false'])
    } finally {
      await own.close()
    }
  })

  test('reports the stderr of a browser that ends at once, and leaves no folder', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'bax-test-tmp-'))
    const program = join(temporary, 'chromium')
    await writeFile(program, '#!/bin/sh\necho "no shared library libsomething.so" >&2\nexit 127\n')
    await chmod(program, 0o755)
    const own = await openHomes({ browser: program })
    try {
      const error = await failureOf(own.clients.unix.createSession({}))
      expect(error).toMatchObject({ code: 'browser_failed', status: 503 })
      expect(error.details).toMatchObject({ stderr: expect.stringContaining('libsomething.so') })
      expect((await own.clients.unix.getEngineStatus({})).browsers).toEqual([])
    } finally {
      await own.close()
      await rm(temporary, { recursive: true, force: true })
    }
  })

  test('closing the engine ends batches, sessions and browsers without waiting for them', async () => {
    const own = await openHomes()
    const { session_id } = await own.clients.http.createSession({ start_url: site.url })
    const running = own.clients.embedded.runCommands({ session_id: session_id!, commands: [hang] })
    const { browsers } = await own.clients.http.getEngineStatus({})
    const started = performance.now()
    await own.close()
    expect(performance.now() - started).toBeLessThan(limits.command.evaluateMs)
    expect(await running).toMatchObject({ success: false, code: 'session_closed' })
    expect(browsers.map(({ pid }) => pid).filter(isRunning)).toEqual([])
    expect(await failureOf(own.clients.embedded.createSession({}))).toMatchObject({
      code: 'shutting_down',
      status: 503,
    })
  })

  test('leaves no Chromium and no folder after kill -9 of the engine', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'bax-test-tmp-'))
    const host = await startEngineHost(temporary)
    try {
      expect(await readdir(temporary)).toEqual([expect.stringMatching(/^bax-browser-/)])
      host.process.kill('SIGKILL')
      await waitUntil(() => !isRunning(host.browserPid))
      await waitUntil(async () => (await readdir(temporary)).length === 0)
    } finally {
      await host.close()
      await rm(temporary, { recursive: true, force: true })
    }
  })
})
