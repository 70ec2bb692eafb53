import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isByPages, searchProviderNames } from '../../src/core/config/search-providers.ts'
import { bax as run, type BuiltBax, buildBax, type CliOptions } from '../support/cli.ts'
import { keys } from '../support/search-apis.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, respondWith } from '../support/web.ts'

let web: SearchServer
let site: Site
let folder: string

beforeAll(async () => {
  ;[web, site, folder] = await Promise.all([
    serveSearch(),
    serveSite({
      '/deltas': article,
      '/two.html': '<h1>Two</h1><p>The second page.</p>',
      '/film': respondWith('video/mp4', 'x'),
      '/agent': (request, response) =>
        void response.setHeader('content-type', 'text/html').end(`<h1>${request.headers['user-agent']}</h1>`),
    }),
    mkdtemp(join(tmpdir(), 'bax-search-')),
  ])
})
afterEach(() => web.reset())
afterAll(async () => {
  await Promise.all([web.close(), site.close()])
  await rm(folder, { recursive: true, force: true })
})

const url = (path: string) => `${site.url}${path}`
const bax = (argv: readonly string[], options: CliOptions = {}) =>
  run(['search', ...argv], {
    cwd: folder,
    ...options,
    env: { BAX_STATE_DIR: join(folder, 'state'), ...web.env('brave', 'searxng'), ...options.env },
  })
const setResults = (...paths: string[]) =>
  web.setResults(
    paths.map((path, at) => ({
      url: url(path),
      title: `Page <b>${at}</b>`,
      snippet: `All about ${at}. `.repeat(9).trim(),
    })),
  )

describe('bax search', () => {
  test('prints a readable list', async () => {
    setResults('/deltas', '/two.html')
    const { code, stdout, stderr } = await bax(['river', 'deltas'])
    const snippet = (at: number) => `All about ${at}. `.repeat(9).trim()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(
      `1. Page 0\n   ${url('/deltas')}\n   ${snippet(0)}\n\n2. Page 1\n   ${url('/two.html')}\n   ${snippet(1)}\n`,
    )
    expect(web.requests[0]!.query.get('q')).toBe('river deltas')
  })

  test('wraps and colours lines on a terminal, unless NO_COLOR is set', async () => {
    setResults('/deltas')
    const colourless = await bax(['deltas'], { tty: true, columns: 40, env: { NO_COLOR: '1' } })
    expect(
      Math.max(
        ...colourless.stdout
          .split('\n')
          .slice(2)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(40)
    expect(colourless.stdout.replaceAll(/\s+/g, ' ')).toContain('All about 0. '.repeat(9).trim())
    const coloured = await bax(['deltas'], { tty: true, columns: 40 })
    expect(coloured.stdout).toContain('\u001b[1mPage 0\u001b[22m')
  })

  test('prints titles and descriptions that cannot control the terminal', async () => {
    web.setResults([{ url: url('/deltas'), title: 'A \u001b]0;B\u0007title', snippet: 'Of \u001b[31mdeltas\u009b' }])
    expect((await bax(['deltas'])).stdout).toBe(`1. A title\n   ${url('/deltas')}\n   Of deltas\n`)
  })

  test('prints the response of the API with --json, and one result per line with --ndjson', async () => {
    setResults('/deltas', '/two.html')
    const whole = JSON.parse((await bax(['deltas', '--json', '--limit', '1'])).stdout) as Record<string, unknown>
    expect(whole).toMatchObject({ success: true, provider: 'brave', data: [{ url: url('/deltas'), position: 1 }] })
    const lines = (await bax(['deltas', '--ndjson'])).stdout.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { url: string }).url)).toEqual([url('/deltas'), url('/two.html')])
  })

  test('prints the pages below their results', async () => {
    setResults('/two.html', '/film')
    const { code, stdout, stderr } = await bax(['deltas', '--formats', 'markdown'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^1\. Page 0\n[^]*\n\n# Two\n\nThe second page\.\n\n2\. Page 1\n/)
    expect(stderr).toContain(
      `error: ${url('/film')}: content of type video/mp4 cannot be scraped [unsupported_content_type]`,
    )
    const { stdout: json } = await bax([
      'deltas',
      '--limit',
      '1',
      '--schema',
      '{"type":"object","properties":{"heading":{"type":"string"}}}',
    ])
    expect(json).toContain('"heading"')
  })

  test('fails when no page could be loaded', async () => {
    setResults('/film')
    expect(await bax(['deltas', '--formats', 'markdown'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Page 0'),
    })
  })

  test('writes the pages and a list of them to a folder', async () => {
    setResults('/deltas', '/two.html', '/film')
    const { code, stdout, stderr } = await bax(['deltas', '-o', 'out'])
    const host = new URL(site.url).host.replace(':', '-')
    expect(code).toBe(0)
    expect(stdout.trim().split('\n')).toEqual(['out/results.json', `out/${host}-deltas.md`, `out/${host}-two.md`])
    expect((await readdir(join(folder, 'out'))).toSorted()).toEqual([
      `${host}-deltas.md`,
      `${host}-two.md`,
      'results.json',
    ])
    expect(await readFile(join(folder, 'out', `${host}-deltas.md`), 'utf8')).toContain('# How deltas grow')
    const list = JSON.parse(await readFile(join(folder, 'out', 'results.json'), 'utf8')) as object
    expect(list).toMatchObject({
      provider: 'brave',
      results: [
        { position: 1, url: url('/deltas'), files: [`${host}-deltas.md`] },
        { position: 2, url: url('/two.html'), files: [`${host}-two.md`] },
        { position: 3, url: url('/film'), files: [], code: 'unsupported_content_type' },
      ],
    })
    expect(stderr).toContain('/film')
    const screenshots = await bax(['deltas', '--limit', '1', '--formats', 'screenshot', '-o', 'shots/'])
    const [, shot] = screenshots.stdout.trim().split('\n')
    expect((await readFile(join(folder, shot!))).subarray(1, 4).toString()).toBe('PNG')
  })

  test('succeeds with a message when nothing was found', async () => {
    web.setModes('brave', 'empty')
    expect(await bax(['deltas'])).toMatchObject({ code: 0, stdout: '', stderr: 'no results from brave\n' })
  })

  test('continues with the next provider, with a warning', async () => {
    setResults('/deltas')
    web.setModes('brave', 'rejects')
    const { code, stdout, stderr } = await bax(['deltas'])
    expect({ code, stdout: stdout.split('\n')[0] }).toEqual({ code: 0, stdout: '1. Page 0' })
    expect(stderr).toMatch(/^warning: brave failed: it rejected the key/)
  })

  test('exits with 3 when all providers fail, and never prints a key', async () => {
    web.setModes('brave', 'quota used up')
    web.setModes('searxng', 'down')
    const { code, stdout, stderr } = await bax(['deltas'])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/^error: all search providers failed \(brave: .*; searxng: .*\)\nhint: run "bax doctor"/)
    const json = await bax(['deltas', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({
      success: false,
      code: 'search_unavailable',
      details: [{ provider: 'brave' }, { provider: 'searxng' }],
    })
    expect(stderr + json.stdout + json.stderr).not.toContain(keys.brave)
  })

  test('uses the provider of --provider', async () => {
    setResults('/deltas')
    await bax(['deltas', '--provider', 'searxng', '--lang', 'de', '--tbs', 'qdr:d'])
    expect(web.requests.map(({ provider }) => provider)).toEqual(['searxng'])
    expect(Object.fromEntries(web.requests[0]!.query)).toMatchObject({ language: 'de', time_range: 'day' })
  })

  test.each([
    ['no query', [], /<query> is missing/],
    ['too many results', ['x', '--limit', '50'], /limit/],
    ['an unknown provider', ['x', '--provider', 'bong'], /--provider must be one of .*did you mean "bing"/],
    ['an unknown flag', ['x', '--format', 'html'], /did you mean --formats/],
    ['a format that is none', ['x', '--formats', 'pdf'], /formats\[0\]/],
    ['a picture for a terminal', ['x', '--formats', 'screenshot'], /need a folder/],
    ['a provider that is not set up', ['x', '--provider', 'serper'], /BAX_SERPER_KEY/],
  ])('%s is rejected with a message', async (_, argv, message) => {
    expect(await bax(argv)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
    expect(web.requests).toEqual([])
  })

  test('shows its flags in the help', async () => {
    const { stdout } = await run(['search', '--help'])
    for (const flag of [
      '--limit',
      '--formats',
      '--provider',
      '--lang',
      '--country',
      '--tbs',
      '--timeout',
      '--wait-for',
      '--no-only-main-content',
      '--render',
      '--output',
      '--session',
      '--ndjson',
    ])
      expect(stdout).toContain(flag)
    expect(stdout).not.toContain('scrape-options')
  })
})

describe('bax doctor', () => {
  const searchCheck = async (env: Record<string, string>) => {
    const { stdout } = await run(['doctor', '--json'], { env: { BAX_STATE_DIR: join(folder, 'state'), ...env } })
    return (JSON.parse(stdout) as { checks: { name: string }[] }).checks.find(({ name }) => name === 'search')
  }

  test('lists the configured providers', async () => {
    expect(await searchCheck(web.env('brave', 'duckduckgo'))).toMatchObject({ ok: true, found: 'brave, duckduckgo' })
    expect(await searchCheck({})).toMatchObject({
      ok: false,
      needed: false,
      found: expect.stringContaining(searchProviderNames.filter(isByPages).join(', ')),
      mend: expect.stringContaining('BAX_SEARXNG_URL'),
    })
  })
})

describe('bax search with other engines', () => {
  let built: BuiltBax
  beforeAll(async () => {
    built = await buildBax()
  })
  afterAll(() => built.close())

  test('scrapes in a session of the local engine', async () => {
    const stateDir = await built.stateDir()
    const env = { BAX_STATE_DIR: stateDir, ...web.env('brave') }
    const created = await built.run(['session', 'create', '--user-agent', 'reader/9'], { env })
    const session = created.stdout.trim()
    expect(session).toMatch(/^ses_/)
    web.setResults([{ url: url('/agent'), title: 'Agent', snippet: '' }])
    const { code, stdout } = await built.run(['search', 'agents', '-s', session, '--formats', 'markdown'], { env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('# reader/9') })
    expect((await built.run(['session', 'show', session, '--json'], { env })).stdout).toContain('"tabs":1')
    const gone = await built.run(['search', 'agents', '-s', 'ses_nobody'], { env })
    expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining('ses_nobody') })
  })

  test('uses the providers of its own environment, not of the local engine', async () => {
    const stateDir = await built.stateDir()
    await built.run(['session', 'create'], { env: { BAX_STATE_DIR: stateDir } })
    setResults('/deltas')
    const { stdout } = await built.run(['search', 'deltas', '--json'], {
      env: { BAX_STATE_DIR: stateDir, ...web.env('searxng') },
    })
    expect(JSON.parse(stdout)).toMatchObject({ provider: 'searxng' })
  })

  test('uses the providers of a server', async () => {
    setResults('/deltas')
    const stateDir = await built.stateDir()
    const server = built.start(['serve', '--port', '0', '--allow-private', '127.0.0.1'], {
      env: { BAX_STATE_DIR: stateDir, ...web.env('searxng') },
    })
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(await server.waitForStderr('listening on http'))![0]
    const { code, stdout } = await built.run(['search', 'deltas', '--server', address, '--json'], {
      env: { BAX_STATE_DIR: stateDir },
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ provider: 'searxng', data: [{ url: url('/deltas') }] })
    server.child.kill('SIGTERM')
    await server.ended
  })
})
