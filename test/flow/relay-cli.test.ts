import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { markedProcesses } from '../support/processes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let site: Site
let foreign: ForeignBrowser
let folder: string
const running: ReturnType<BuiltBax['start']>[] = []

beforeAll(async () => {
  ;[built, site, foreign] = await Promise.all([
    buildBax(),
    serveSite({
      '/': '<title>Home</title><h1>Home</h1><button onclick="document.title = `Pressed`">Press</button>',
      '/noisy':
        '<title>Noisy</title><script>console.error("it broke", "Bearer abcdefghijkl")</script><img src="/x?token=s3cret">',
    }),
    startForeignBrowser(),
  ])
})
afterAll(async () => {
  await foreign.close()
  await site.close()
  await built.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-relay-'))
})
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGTERM')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
})

type Env = Record<string, string>

/** Process that ends with the test. */
function start(argv: readonly string[], env: Env) {
  const one = built.start(argv, { env, cwd: folder })
  running.push(one)
  return one
}

const run = (argv: readonly string[], env: Env, stdin?: string) =>
  built.run(argv, { env, cwd: folder, ...(stdin !== undefined && { stdin }) })

/** Resolves with the connector once it is connected and the engine has its tab. */
async function connect(env: Env, ...flags: string[]) {
  const connector = start(['relay', 'connect', '--name', 'laptop', ...flags], env)
  await connector.waitForStderr('^C disconnects the browser')
  await waitUntil(async () => (await laptop(env))['active_target_id'] !== null, 60_000)
  return connector
}

const laptop = async (env: Env): Promise<Record<string, unknown>> =>
  JSON.parse((await run(['relay', 'show', 'laptop', '--json'], env)).stdout) as Record<string, unknown>

const cdp = (env: Env, ...words: string[]) => run(['cdp', '-s', 'laptop', ...words], env)
const navigateTo = (env: Env, path: string) => cdp(env, 'Page.navigate', JSON.stringify({ url: site.url + path }))
const titleIs = (title: string) => waitUntil(async () => (await foreign.titles()).includes(title), 60_000)

/** Engines of both kinds; the server requires a token. */
const engines: Record<string, () => Promise<Env>> = {
  'the local engine': async () => ({ BAX_STATE_DIR: await built.stateDir() }),
  '`bax serve`': async () => {
    const env = { BAX_STATE_DIR: await built.stateDir() }
    const server = start(['serve', '--port', '0'], env)
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('http://127.0.0.1:'))![0]
    const { stdout } = await run(['relay', 'tokens', 'create', '--name', 'laptop'], { BAX_SERVER: address })
    return { BAX_SERVER: address, BAX_RELAY_TOKEN: stdout.trim() }
  },
}

describe.each(Object.keys(engines))('a browser connected to %s', (name) => {
  let env: Env
  beforeEach(async () => {
    env = await engines[name]!()
  })

  test('is listed, shown and driven, and keeps running after ^C', async () => {
    const connector = await connect(env, '--cdp', foreign.url)
    const { stdout: list } = await run(['relay', 'list'], env)
    expect(list).toMatch(
      /^id +name +status +policy +active_target_id\nrly_[\w-]+ +laptop +connected +no-lifecycle +\w+\n$/i,
    )
    expect((await navigateTo(env, '/')).code).toBe(0)
    await titleIs('Home')
    const tabs = await run(['relay', 'tabs', 'laptop'], env)
    expect(tabs.stdout).toMatch(/^target_id +active +responsive +title +url\n\w+ +true +true /i)

    expect(await run(['do', 'click', 'button', '-s', 'laptop'], env)).toMatchObject({ code: 0 })
    await titleIs('Pressed')
    const observed = await run(['observe', '-s', 'laptop'], env)
    expect(observed).toMatchObject({ code: 0, stdout: expect.stringContaining('Press') })
    const step = ['step', '-s', 'laptop', '--json', 'get-title']
    expect(JSON.parse((await run(step, env)).stdout)).toMatchObject({ success: true })

    await writeFile(
      join(folder, 'flow.yaml'),
      'session: {session_id: laptop}\nsteps:\n  - get_title:\n    expect: {equals: Pressed}\n',
    )
    expect(await run(['run', 'flow.yaml'], env)).toMatchObject({ code: 0 })

    connector.child.kill('SIGINT')
    expect(await connector.ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/^rly_[\w-]+\n$/) })
    expect(await foreign.titles()).toEqual(['Pressed'])
    expect(JSON.parse((await run(['relay', 'list', '--json'], env)).stdout)).toEqual({ sessions: [] })
  })

  test('shares its name with no session', async () => {
    await connect(env, '--cdp', foreign.url)
    expect(await run(['session', 'create', '--requested-name', 'laptop'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a connected browser is already named "laptop"'),
    })
    expect(await run(['session', 'create', '--requested-name', 'shop'], env)).toMatchObject({ code: 0 })
    expect(await run(['relay', 'connect', '--cdp', foreign.url, '--name', 'shop'], env)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('a live session is already named "shop"'),
    })
    expect(await run(['session', 'close', 'shop'], env)).toMatchObject({ code: 0 })
  })

  test('runs single calls with params from all sources, fields to files, and exit codes for errors', async () => {
    await connect(env, '--cdp', foreign.url)
    expect(await cdp(env, 'Runtime.evaluate', '{"expression":"6*7"}', '--field', 'result')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"value": 42'),
    })
    await writeFile(join(folder, 'params.json'), '{"expression":"6*8"}')
    expect((await cdp(env, 'Runtime.evaluate', '@params.json')).stdout).toContain('48')
    const spoken = await run(['cdp', '-s', 'laptop', 'Runtime.evaluate', '-'], env, '{"expression":"6*9"}')
    expect(spoken.stdout).toContain('54')
    const shot = await cdp(env, 'Page.captureScreenshot', '--field', 'data', '-o', 'page.png')
    expect(shot).toMatchObject({ code: 0, stdout: '' })
    expect((await readFile(join(folder, 'page.png'))).subarray(1, 4).toString()).toBe('PNG')

    expect(await cdp(env, 'Browser.close')).toMatchObject({ code: 4, stderr: expect.stringContaining('no-lifecycle') })
    expect(await cdp(env, 'Foo.bar')).toMatchObject({ code: 1, stderr: expect.stringContaining('[cdp_error]') })
    expect(await cdp(env, 'Runtime.evaluate', '{oops')).toMatchObject({ code: 2 })
    expect(await cdp(env, 'Browser.getVersion', '--field', 'nope')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it has protocolVersion'),
    })
    expect(await cdp(env, 'Page.enable', '--target', 'none')).toMatchObject({ code: 5 })
  })

  test('reads, filters, follows, exports and clears events without secrets', async () => {
    await connect(env, '--cdp', foreign.url)
    const events = (...flags: string[]) => run(['relay', 'events', 'laptop', ...flags], env)
    const follower = start(
      ['relay', 'events', 'laptop', '--follow', '--ndjson', '--kind', 'console', '--since', '0'],
      env,
    )
    let followed = ''
    follower.child.stdout!.on('data', (chunk: Buffer) => (followed += chunk))
    await navigateTo(env, '/noisy')
    await waitUntil(() => followed.includes('it broke'), 60_000)
    const finished = ['--kind', 'network', '--type', 'finished', '--url', '**/x?*']
    await waitUntil(async () => (await events(...finished)).stdout !== '', 60_000)

    expect((await events('--kind', 'console', '--level', 'error', '--text', 'BROKE')).stdout).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}console {2}log +error: it broke Bearer \[redacted\] \(http/,
    )
    const page = JSON.parse((await events('--json', '--limit', '1')).stdout) as { more: boolean; next: number }
    expect(page).toMatchObject({ more: true, next: 1, gap: null })
    expect((await events('--limit', '1')).stderr).toContain('more events: add --since 1')
    const lines = (await events('--ndjson')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number })
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1))

    expect((await events('--har', 'out.har')).stderr).toMatch(/^saved \d+ requests to out\.har\n$/)
    const archive = await readFile(join(folder, 'out.har'), 'utf8')
    const { log } = JSON.parse(archive) as { log: { pages: { id: string }[]; entries: { pageref: string }[] } }
    expect(log.pages.map(({ id }) => id)).toEqual([...new Set(log.entries.map(({ pageref }) => pageref))])
    for (const text of [archive, followed, (await events('--ndjson')).stdout]) {
      expect(text).not.toMatch(/s3cret|abcdefghijkl/)
    }

    expect(await events('--kind', 'consle')).toMatchObject({ code: 2, stderr: expect.stringContaining('kind') })
    expect(await events('--follow', '--clear')).toMatchObject({ code: 2 })
    expect(await events('--clear', '--kind', 'console')).toMatchObject({ code: 2 })
    expect(await events('--clear')).toMatchObject({ code: 0, stdout: '' })
    expect((await events('--type', 'finished')).stdout).toBe('')
    follower.child.kill('SIGINT')
    expect((await follower.ended).code).toBe(130)
  })

  test('has the status reconnecting while its connector is dead, and is released by `relay stop`', async () => {
    const connector = await connect(env, '--cdp', foreign.url)
    connector.child.kill('SIGKILL')
    await connector.ended
    await waitUntil(async () => (await laptop(env))['status'] === 'reconnecting', 60_000)
    expect(await cdp(env, 'Browser.getVersion')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is disconnected'),
    })
    expect(await foreign.titles()).toHaveLength(1)
    expect((await run(['relay', 'stop', 'laptop'], env)).code).toBe(0)
    expect((await run(['relay', 'show', 'laptop'], env)).code).toBe(5)

    const again = await connect(env, '--cdp', foreign.url)
    expect((await run(['relay', 'stop', 'laptop'], env)).code).toBe(0)
    expect(await again.ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the engine ended this relay session'),
    })
  })

  test('uses another tab after `relay use`', async () => {
    await connect(env, '--cdp', foreign.url)
    const before = (await laptop(env))['active_target_id'] as string
    const { stdout } = await cdp(env, 'Target.createTarget', '{"url":"about:blank"}', '--field', 'targetId')
    await waitUntil(async () => (await laptop(env))['active_target_id'] === stdout.trim(), 60_000)
    expect((await run(['relay', 'use', 'laptop', before], env)).code).toBe(0)
    await waitUntil(async () => (await laptop(env))['active_target_id'] === before, 60_000)
    expect((await run(['relay', 'use', 'laptop', 'none'], env)).code).toBe(5)
    await cdp(env, 'Target.closeTarget', JSON.stringify({ targetId: stdout.trim() }))
    await waitUntil(async () => (await foreign.titles()).length === 1)
  })
})

describe('`bax relay connect --launch`', () => {
  test('launches a browser that ends with it, on ^C and on SIGKILL', async () => {
    const env = { BAX_STATE_DIR: await built.stateDir(), TMPDIR: folder }
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      const connector = await connect(env, '--launch')
      expect((await cdp(env, 'Browser.getVersion', '--field', 'product')).stdout).toMatch(/^\S*Chrome\//)
      expect((await readdir(folder)).filter((entry) => entry.startsWith('bax-browser-'))).toHaveLength(1)
      connector.child.kill(signal)
      await connector.ended
      await waitUntil(async () => !(await readdir(folder)).some((entry) => entry.startsWith('bax-browser-')), 60_000)
      // Its profile is on the command line; the folder is in the environment of the engine, too.
      await waitUntil(async () => (await markedProcesses(join(folder, 'bax-browser-'))).length === 0, 60_000)
      await run(['relay', 'stop', 'laptop'], env)
    }
  })
})

describe('invalid input', () => {
  test.each([
    [[], 2, 'pass --cdp http://127.0.0.1:9222, --running NAME or --launch'],
    [['--cdp', 'http://127.0.0.1:1', '--launch'], 2, '--cdp and --launch exclude each other'],
    [['--running', 'chrom'], 2, '--running must be one of chrome, chromium, edge, not "chrom"'],
    [['--launch', '--policy', 'readonly'], 2, '--policy must be one of'],
    [['--launch', '--events', 'console,networks'], 2, '--events must be one of'],
    [['--launch', '--bodies', 'all'], 2, '--bodies must be one of text'],
    [['--launch', '--max-events-per-sec', '0'], 2, '--max-events-per-sec must be a whole number'],
    [['--launch', '--approve-timeout', 'soon'], 2, '--approve-timeout must be 1 to 3600 seconds'],
    [['--cdp', 'http://192.0.2.1:9222'], 2, 'add --allow-remote-cdp'],
    [['--launch', '--embedded'], 2, 'an embedded engine ends with its command'],
    [['--launch', '--token-file', 'none'], 2, 'none'],
    [['--launch', '--server', 'http://127.0.0.1:1'], 3, 'engine'],
  ] as const)('%j exits with %d and prints %j', async (flags, code, text) => {
    const env = { BAX_STATE_DIR: await built.stateDir() }
    const connector = start(['relay', 'connect', ...flags], env)
    if (code === 3) {
      // The server may come back, so the connector retries until it is stopped.
      await connector.waitForStderr('reconnecting')
      connector.child.kill('SIGINT')
      return
    }
    expect(await connector.ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(text) })
  })

  test('an invalid token is rejected without retries, and never shown', async () => {
    const { BAX_SERVER } = await engines['`bax serve`']!()
    const env = { BAX_SERVER: BAX_SERVER!, BAX_RELAY_TOKEN: 'rlt_thisIsNotTheToken' }
    const { code, stdout, stderr } = await run(['relay', 'connect', '--cdp', foreign.url], env)
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toContain('the relay token is not valid')
    expect(stderr).not.toContain('rlt_')
  })
})

test('`relay connect` uses the API key of the server', async () => {
  const env = { BAX_STATE_DIR: await built.stateDir() }
  const { stdout } = await run(['key', 'create', 'ops', '--scopes', 'admin', '--embedded'], env)
  const server = start(['serve', '--port', '0'], env)
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('http://127.0.0.1:'))![0]
  const refused = await run(['relay', 'connect', '--cdp', foreign.url], { BAX_SERVER: address })
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  await connect({ BAX_SERVER: address, BAX_API_KEY: stdout.trim() }, '--cdp', foreign.url)
})
