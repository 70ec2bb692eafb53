/** `bax code`: its file, output and exit codes, and what ends it. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax, buildBax, type BuiltBax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
let user: KeyHolder
let folder: string

beforeAll(async () => {
  ;[homes, site, folder] = await Promise.all([
    openHomes(),
    serveSite({ '/': '<!doctype html><title>Shop</title><button id=buy>Buy</button>' }),
    mkdtemp(join(tmpdir(), 'bax-test-code-')),
  ])
  user = await keyHolder(homes)
})
afterAll(async () => {
  await user?.client.closeSessions()
  await homes?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (argv: readonly string[], options: CliOptions = {}) =>
  bax(argv, {
    cwd: folder,
    ...options,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: folder, BAX_API_KEY: user.key, ...options.env },
  })
const code = (text: string, argv: readonly string[] = [], options?: CliOptions) =>
  run(['code', '-', ...argv], { stdin: text, ...options })

test('runs a file, prints what it prints, and then its result', async () => {
  await writeFile(
    join(folder, 'title.js'),
    `await bax.navigate_to(args.url)\nconsole.log('opened')\nreturn bax.get_title()\n`,
  )
  expect(await run(['code', 'title.js', '--args', JSON.stringify({ url: site.url })])).toEqual(
    expect.objectContaining({ code: 0, stdout: 'opened\nShop\n', stderr: '' }),
  )
})

test('uses the default session if it is open, and otherwise one that ends with the code', async () => {
  const url = 'return bax.get_url()'
  const { total } = await user.client.listSessions({})
  expect(await code(url)).toMatchObject({ code: 0, stdout: 'about:blank\n' })
  expect((await user.client.listSessions({})).total).toBe(total)
  await run(['open', site.url])
  expect(await code(url)).toMatchObject({ code: 0, stdout: `${site.url}/\n` })
  const approved = await code(url, ['--confirm', 'eval'])
  expect(approved).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('without confirm eval') })
  expect(await code(url, ['-s', 'no'])).toMatchObject({ code: 5, stderr: expect.stringContaining('bax session list') })
  await run(['session', 'close'])
  expect(await code(url)).toMatchObject({ code: 0, stdout: 'about:blank\n' })
})

test.each([
  [
    `await bax.click('#no', { timeout_ms: 1 })`,
    [],
    1,
    'error: no element matches #no: no page is open (line 1, column 16)',
  ],
  ['a.b', [], 1, `error: ReferenceError: 'a' is not defined (line 1, column 1)`],
  ['while (true) {}', ['--timeout-ms', '200'], 6, 'error: the code was not done within 200 ms'],
  ['return 1', ['--memory-mb', '1000'], 2, 'memory-mb'],
  ['return 1', ['--args', '[1]'], 2, 'args'],
])('fails with the exit code of the failure: %s', async (text, argv, exit, message) => {
  const result = await code(text, argv)
  expect(result).toMatchObject({ code: exit, stdout: '' })
  expect(result.stderr).toContain(message)
})

test('prints the whole answer as JSON, also of a failure', async () => {
  const failed = await code(`console.log('a'); throw new Error('x')`, ['--json'])
  expect(failed.code).toBe(1)
  expect(JSON.parse(failed.stdout)).toMatchObject({ success: false, output: 'a\n', code: 'code_failed', calls: 0 })
  const done = await code('return { a: [1] }', ['--json'])
  expect(JSON.parse(done.stdout)).toMatchObject({ success: true, result: { a: [1] }, output: '' })
})

test('fails for a file that cannot be read', async () => {
  expect(await run(['code', 'no.js'])).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read no.js') })
})

test('calls with the scopes and the sessions of the key', async () => {
  const scraper = await keyHolder(homes, ['scrape'])
  const env = { BAX_API_KEY: scraper.key }
  const title = `return (await bax.scrape({ url: args.url })).data.metadata.title`
  expect(await code(title, ['--args', JSON.stringify({ url: site.url })], { env })).toMatchObject({
    code: 0,
    stdout: 'Shop\n',
  })
  expect(await code('return bax.get_title()', [], { env })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('scope'),
  })
  const { session_id } = await user.client.createSession({})
  const other = await keyHolder(homes)
  expect(await code('return bax.get_url()', ['-s', session_id!], { env: { BAX_API_KEY: other.key } })).toMatchObject({
    code: 5,
  })
})

test('waits for the approval of each action, as a command does', async () => {
  const { session_id } = await user.client.createSession({ confirm: ['eval'] })
  const running = code(`return await bax.evaluate('1 + 1')`, ['-s', session_id!])
  const waiting = async () => (await user.client.listApprovals({})).approvals[0]
  await waitUntil(async () => (await waiting()) !== undefined)
  const { approval_id, command } = (await waiting())!
  expect(command).toBe('evaluate')
  await user.client.approveAction({ session_id: session_id!, approval_id })
  expect(await running).toMatchObject({ code: 0, stdout: '2\n' })
  const { events } = await user.client.getSessionLog({ session_id: session_id! })
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['command.started', 'command.finished']))
})

describe('--types', () => {
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
  const sample = `
    await bax.navigate_to(args.url)
    await bax.click('#buy', { timeout_ms: 5000 })
    await bax.click_advanced({ selector: '#buy', button: 'right' })
    await bax.fill('#q', 'tea')
    await bax.wait_for_element('#q')
    const title: string = await bax.get_title()
    const { data } = await bax.scrape({ url: args.url, formats: ['markdown'] })
    const { snapshot } = await bax.observe()
    await bax.closeSession({})
    try {
      await bax.click('#no')
    } catch (error) {
      const { code, hint }: bax.Failure = error as bax.Failure
      if (code === 'element_not_found') console.log(hint?.toUpperCase())
    }
    return { title, markdown: data?.markdown?.length, snapshot }`

  /** Returns what the compiler says about code, one line per error. */
  async function compile(types: string, code: string, ...flags: string[]): Promise<string[]> {
    const place = await mkdtemp(join(folder, 'types-'))
    await writeFile(join(place, 'bax.d.ts'), types)
    await writeFile(join(place, 'code.ts'), `async function code() {\n${code}\n}\n`)
    const argv = [tsc, '--strict', '--noEmit', '--target', 'es2022', ...flags, 'bax.d.ts', 'code.ts']
    // Errors of the compiler are on standard output.
    const ended = promisify(execFile)(process.execPath, argv, { cwd: place })
    const { stdout } = await ended.catch((error: { stdout: string }) => error)
    return stdout.split('\n').filter((line) => line.includes('error TS'))
  }

  let types: string
  beforeAll(async () => {
    types = (await run(['code', '--types'])).stdout
  })

  test.each([
    ['without other libraries', ['--lib', 'es2022', '--types', '']],
    ['beside those of browsers', ['--lib', 'es2022,dom', '--types', '']],
  ])('compiles code that calls commands and operations, %s', async (_, flags) => {
    expect(await compile(types, sample, ...flags)).toEqual([])
  })

  test('does not compile wrong calls', async () => {
    const wrong = {
      'a number for a selector': 'await bax.click(3)',
      'an unknown function': `await bax.clik('#buy')`,
      'an unknown field': `await bax.click('#buy', { selectr: '#a' })`,
      'a missing argument': 'await bax.click()',
      'an argument too many': `await bax.click('#a', {}, 3)`,
      'an unknown choice': `await bax.click_advanced('#a', { button: 'wheel' })`,
      'a missing field of an operation': 'await bax.scrape({})',
      'a wrong field of an operation': `await bax.scrape({ url: 'https://example.com', formats: 'markdown' })`,
      'a result used as another type': 'const count: number = await bax.get_title()',
      'a function that code does not have': `await bax.approveAction({ approval_id: 'a' })`,
    }
    const errors = await compile(types, Object.values(wrong).join('\n'))
    // The first line is that of the function.
    const found = errors.map((line) => Number(/^code\.ts\((\d+),/.exec(line)?.[1]) - 2)
    expect([...new Set(found)].map((at) => Object.keys(wrong)[at])).toEqual(Object.keys(wrong))
  })

  test('prints only the functions that are named, with the types that they need', async () => {
    const { stdout } = await run(['code', '--types', 'click', 'scrape'])
    expect(await compile(stdout, `await bax.click('#a'); await bax.scrape({ url: 'https://example.com' })`)).toEqual([])
    expect(await compile(stdout, `await bax.fill('#q', 'a')`)).toHaveLength(1)
    expect(await run(['code', '--types', 'clik'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no function is named "clik" (did you mean "click"?)'),
    })
  })

  test('without a file or with two, code fails', async () => {
    expect(await run(['code'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no file was given') })
    expect(await run(['code', 'a.js', 'b.js'])).toMatchObject({ code: 2, stderr: expect.stringContaining('one file') })
  })
})

describe('as a program', () => {
  let built: BuiltBax
  beforeAll(async () => {
    built = await buildBax()
  })
  afterAll(() => built.close())

  test('ends code that cannot be interrupted', async () => {
    const env = { BAX_STATE_DIR: await built.stateDir() }
    const argv = ['code', '-', '--embedded', '--timeout-ms', '500']
    const ended = await built.run(argv, { env, stdin: `new Array(2 ** 32 - 1).join('x')` })
    expect(ended).toMatchObject({ code: 6, stderr: expect.stringContaining('not done within 500 ms') })
  })

  test('ends with an interrupt, while the engine goes on', async () => {
    const env = { BAX_STATE_DIR: await built.stateDir() }
    await built.run(['open', site.url], { env })
    const running = built.start(['code', '-'], {
      env,
      stdin: `await bax.evaluate('document.title = "seen"'); for (;;) args.x`,
    })
    const title = async () => (await built.run(['get-title'], { env })).stdout
    await waitUntil(async () => (await title()) === 'seen\n')
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(await title()).toBe('seen\n')
  })
})
