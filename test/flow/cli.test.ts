import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let folder: string
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': '<!doctype html><title>Shop</title><h1>Offers</h1><button id="buy" onclick="document.title=\'Bought\'">Buy</button>',
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-cli-'))
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47])

/** Returns a promise and its resolver; Node 20 has no Promise.withResolvers. */
function withResolvers() {
  let resolve!: () => void
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

/** The two ways to name a running engine. */
const servers = {
  http: () => homes.baseUrl,
  unix: () => `unix:${join(homes.stateDir, 'test.sock')}`,
}

describe.each(Object.keys(servers) as (keyof typeof servers)[])('through a server over %s', (name) => {
  const run = (argv: string[], { env, ...options }: CliOptions = {}) =>
    bax(argv, {
      cwd: folder,
      ...options,
      env: { BAX_SERVER: servers[name](), BAX_STATE_DIR: join(folder, name), ...env },
    })
  let session: string
  beforeEach(async () => {
    const { stdout } = await run(['session', 'create', '--headless', '--start-url', site.url])
    session = stdout.trim()
    return async () => void (await run(['session', 'close', session]))
  })

  test('`session create` prints only the ID', async () => {
    expect(session).toMatch(/^ses_[\w-]+$/)
    const { stdout } = await run(['session', 'show', session, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ session_id: session, status: 'ready', title: 'Shop' })
  })

  test('`session list` prints a table, or the answer with --json', async () => {
    const { stdout } = await run(['session', 'list'])
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^SESSION_ID +NAME +STATUS +TABS +URL +TITLE$/)
    expect(rows.find((row) => row.startsWith(session))).toMatch(/ ready +1 +http:\/\/127.0.0.1:\d+\/ +Shop$/)
    const { sessions, total } = JSON.parse((await run(['session', 'list', '--json'])).stdout)
    expect(total).toBe(sessions.length)
  })

  test('`session close` prints nothing, and the session is reported as ended', async () => {
    expect(await run(['session', 'close', session])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const gone = await run(['do', '-s', session, 'get-title'])
    expect([gone.code, gone.stdout]).toEqual([5, ''])
    expect(gone.stderr).toContain('has ended')
  })

  test('commands joined by `then` are one batch; values go to stdout, actions are silent', async () => {
    const { code, stdout, stderr } = await run([
      'do',
      '-s',
      session,
      'get-title',
      'then',
      'click',
      '#buy',
      'then',
      'get_title',
      'then',
      'evaluate',
      '({a: 1})',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe('Shop\nBought\n{\n  "a": 1\n}\n')
    const record = JSON.parse((await run(['session', 'show', session, '--json'])).stdout)
    expect(record.commands_run).toBe(4)
  })

  test('a failed command stops the batch with its error on stderr and exit code 1', async () => {
    const failed = await run(['do', '-s', session, 'click', '#by', '--timeout-ms', '700', 'then', 'get-title'])
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toMatch(/^error: click \(1 of 2\): no element matches #by.* \[element_not_found\]\nhint: /)
    const on = await run([
      'do',
      '-s',
      session,
      '--continue-on-error',
      'click',
      '#by',
      '--timeout-ms',
      '200',
      'then',
      'get-title',
    ])
    expect([on.code, on.stdout]).toEqual([1, 'Shop\n'])
  })

  test('--json prints exactly the answer of the engine', async () => {
    const { code, stdout } = await run(['do', '-s', session, '--json', 'get-title'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      session_id: session,
      results: [{ command: 'get_title', data: { result: { type: 'string', value: 'Shop' } } }],
    })
    const failed = await run(['do', '-s', 'nobody', '--json', 'get-title'])
    expect(failed.code).toBe(5)
    expect(JSON.parse(failed.stdout)).toMatchObject({ success: false, code: 'session_not_found' })
  })

  test('reads commands as JSON from standard input', async () => {
    const commands = [{ command: 'click', data: { selector: '#buy' } }, { command: 'get_title' }]
    const list = await run(['do', '-', '-s', session], { stdin: JSON.stringify(commands) })
    expect([list.code, list.stdout]).toEqual([0, 'Bought\n'])
    const body = await run(['do', '-'], { stdin: JSON.stringify({ session_id: session, commands: [commands[1]] }) })
    expect([body.code, body.stdout, body.stderr]).toEqual([0, 'Bought\n', ''])
    const spelled = await run(['do', '-', '-s', session], { stdin: '[{"command":"get-title"}]' })
    expect([spelled.code, spelled.stdout]).toEqual([0, 'Bought\n'])
    const wrong = await run(['do', '-', '-s', session], { stdin: '[{"command":"get_tilte"}]' })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('commands[0].command: unknown command "get_tilte" (did you mean "get_title"?)')
    const broken = await run(['do', '-', '-s', session], { stdin: '[{' })
    expect([broken.code, broken.stdout]).toEqual([2, ''])
    expect(broken.stderr).toContain('standard input is not JSON')
  })

  test('creates a session with --new-session, and prints its ID to stderr', async () => {
    const { code, stdout, stderr } = await run([
      'do',
      '--new-session',
      '--headless',
      'navigate-to',
      site.url,
      'then',
      'get-title',
    ])
    expect([code, stdout]).toEqual([0, 'Shop\n'])
    const id = /^session (ses_\S+) \(continue with: bax do -s \1 …\)\n$/.exec(stderr)?.[1]
    expect((await run(['do', '-s', id!, 'get-title'])).stdout).toBe('Shop\n')
    await run(['session', 'close', id!])
  })

  test('names the session by -s, BAX_SESSION or `session use`, in this order', async () => {
    await run(['session', 'use', session])
    expect((await run(['session', 'use'])).stdout).toBe(`${session}\n`)
    expect((await run(['do', 'get-title'])).stdout).toBe('Shop\n')
    const named = await run(['do', 'get-title'], { env: { BAX_SESSION: 'nobody' } })
    expect(named.code).toBe(5)
    expect(named.stderr).toContain('BAX_SESSION')
    const flag = await run(['do', '-s', session, 'get-title'], { env: { BAX_SESSION: 'nobody' } })
    expect(flag.stdout).toBe('Shop\n')
    expect((await run(['session', 'use', '--clear'])).code).toBe(0)
    expect(await run(['session', 'use'])).toMatchObject({ stdout: '', stderr: 'no session is chosen\n' })
    expect((await run(['session', 'use', 'nobody'])).code).toBe(5)
  })

  test('suggests another choice if the chosen session has ended', async () => {
    await run(['session', 'use', session])
    await run(['session', 'close', session])
    const { code, stderr } = await run(['do', 'get-title'])
    await run(['session', 'use', '--clear'])
    expect(code).toBe(5)
    expect(stderr).toContain('bax session use --clear')
  })

  describe('a screenshot', () => {
    test('is written to the file of -o, relative to the folder of the caller', async () => {
      const { code, stdout } = await run(['do', '-s', session, 'screenshot', '-o', 'page.png', 'then', 'get-title'])
      expect([code, stdout]).toEqual([0, 'Shop\n'])
      expect((await readFile(join(folder, 'page.png'))).subarray(0, 4)).toEqual(png)
    })

    test('is written as bytes to standard output if requested', async () => {
      const { bytes } = await run(['do', '-s', session, 'screenshot', '-o', '-'])
      expect(bytes.subarray(0, 4)).toEqual(png)
      expect(bytes.subarray(-8, -4).toString('latin1')).toBe('IEND')
    })

    test.each([true, false])('becomes a file whose path is printed (terminal: %s)', async (tty) => {
      const { code, stdout } = await run(['do', '-s', session, 'screenshot'], { tty })
      expect(code).toBe(0)
      expect(stdout).toMatch(/^screenshot-\d{8}-\d{6}(-\d+)?\.png\n$/)
      expect((await readFile(join(folder, stdout.trim()))).subarray(0, 4)).toEqual(png)
    })

    test('is in the response, and in no file, with --json', async () => {
      const before = await readdir(folder)
      const { stdout } = await run(['do', '-s', session, 'screenshot', '--json'])
      const [result] = (JSON.parse(stdout) as { results: { data: { screenshot: string; path?: string } }[] }).results
      expect(Buffer.from(result!.data.screenshot, 'base64').subarray(0, 4)).toEqual(png)
      expect(result!.data.path).toBeUndefined()
      expect(await readdir(folder)).toEqual(before)
    })

    test('becomes a file if there is other output', async () => {
      const { stdout } = await run(['do', '-s', session, 'screenshot', 'then', 'get-title'])
      const [name, title] = stdout.trim().split('\n')
      expect(title).toBe('Shop')
      expect(await readdir(folder)).toContain(name)
    })

    test('is saved in the folder of the caller if it has a path', async () => {
      const { code } = await run(['do', '-s', session, 'screenshot', '--path', 'by-path.png'])
      expect(code).toBe(0)
      expect((await readFile(join(folder, 'by-path.png'))).subarray(0, 4)).toEqual(png)
    })

    test('creates the missing folders of its file', async () => {
      await run(['do', '-s', session, 'screenshot', '-o', 'new/folder/page.png'])
      expect((await readFile(join(folder, 'new/folder/page.png'))).subarray(0, 4)).toEqual(png)
      await run(['observe', '-s', session, '--include', 'screenshot', '-o', 'new/other/page.png'])
      expect((await readFile(join(folder, 'new/other/page.png'))).subarray(0, 4)).toEqual(png)
    })

    test('reports one error if it cannot be written', async () => {
      await writeFile(join(folder, 'file'), '')
      const { code, stderr } = await run(['do', '-s', session, 'screenshot', '-o', 'file/page.png'])
      expect(code).toBe(2)
      expect(stderr).toContain(`error: cannot write ${join(folder, 'file/page.png')}: a part of the path is no folder`)
    })
  })

  test('writes content as text to the file of -o', async () => {
    await run(['do', '-s', session, 'get-text', 'h1', '-o', 'heading.txt'])
    expect(await readFile(join(folder, 'heading.txt'), 'utf8')).toBe('Offers\n')
  })

  test('reports invalid fields with the error of the engine', async () => {
    const { code, stderr } = await run(['do', '-s', session, 'click-at', '--', '-1', '99999999'])
    expect(code).toBe(2)
    expect(stderr).toContain('error: <y> must be at most 100000, not 99999999')
  })

  test('prints every step to stderr on a terminal, in colour unless NO_COLOR is set', async () => {
    const argv = ['do', '-s', session, 'click', '#buy', 'then', 'get-title']
    const colour = await run(argv, { tty: true })
    expect(colour.stderr).toMatch(/\u001B\[32m✓\u001B\[39m click /)
    const plain = await run(argv, { tty: true, env: { NO_COLOR: '1' } })
    expect(plain.stderr).toMatch(/^✓ click \d+ ms\n✓ get-title \d+ ms\n$/)
    expect(plain.stdout).toBe('Bought\n')
  })

  test('cuts a table to the width of the terminal', async () => {
    const { stdout } = await run(['session', 'list'], { tty: true, columns: 60, env: { NO_COLOR: '1' } })
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBe(60)
  })

  test('saves a profile of a session and loads it into another', async () => {
    const id = (await run(['profile', 'save', `login-${name}`, '-s', session])).stdout.trim()
    expect((await run(['profile', 'list'])).stdout).toContain(`login-${name}`)
    const other = await run(['session', 'create', '--headless', '--profile-id', id])
    expect(other.code).toBe(0)
    await run(['session', 'close', other.stdout.trim()])
    expect((await run(['profile', 'delete', id])).code).toBe(0)
    expect((await run(['profile', 'show', id])).code).toBe(5)
  })

  test('`session watch` follows the events until the session ends', async () => {
    const connected = withResolvers()
    const watched = run(['session', 'watch', '-s', session, '--replay', 'all', '--json'], {
      onOutput: () => connected.resolve(),
    })
    await connected.promise
    await run(['session', 'close', session])
    const { code, stdout } = await watched
    expect(code).toBe(0)
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(types).toContain('page.loaded')
    expect(types.at(-1)).toBe('session.closed')
  })

  test('`api` sends any request, `openapi` prints the document', async () => {
    const list = await run(['api', 'get', 'sessions'])
    expect(JSON.parse(list.stdout).total).toBeGreaterThan(0)
    await writeFile(
      join(folder, 'body.json'),
      JSON.stringify({ session_id: session, commands: [{ command: 'get_title' }] }),
    )
    const posted = await run(['api', 'POST', '/commands', '-d', '@body.json'])
    expect(JSON.parse(posted.stdout)).toMatchObject({ success: true })
    const refused = await run(['api', 'GET', '/sessions/nobody'])
    expect(refused.code).toBe(5)
    expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'session_not_found' })
    const { code, stdout } = await run(['openapi'])
    expect([code, JSON.parse(stdout).openapi]).toEqual([0, '3.1.0'])
  })

  test('^C ends a hanging command with 130 and cancels its request', async () => {
    const interrupt = new AbortController()
    const hung = run(['do', '-s', session, 'evaluate', 'new Promise(() => {})'], { signal: interrupt.signal })
    const seen = new AbortController()
    await run(['session', 'watch', '-s', session, '--replay', 'all', '--types', 'command.started', '--json'], {
      signal: seen.signal,
      onOutput: (line) => line.includes('"command":"evaluate"') && seen.abort('SIGINT'),
    })
    interrupt.abort('SIGINT')
    expect(await hung).toMatchObject({ code: 130, stdout: '' })
    expect((await run(['do', '-s', session, 'get-title'])).stdout).toBe('Shop\n')
  })
})

describe('with --embedded', () => {
  test('runs a batch in a temporary engine that leaves nothing behind', async () => {
    const state = await mkdtemp(join(tmpdir(), 'bax-embedded-'))
    const env = { BAX_STATE_DIR: state }
    const ran = await bax(['do', '--embedded', '--headless', 'navigate-to', site.url, 'then', 'get-title'], { env })
    expect(ran).toMatchObject({ code: 0, stdout: 'Shop\n', stderr: '' })
    expect(await readdir(state)).not.toContain('engine.json')
    const use = await bax(['session', 'use', 'x', '--embedded'], { env })
    expect(use.code).toBe(2)
    await rm(state, { recursive: true })
  })
})

describe('an unusable server', () => {
  test('is named if nothing answers', async () => {
    const { code, stdout, stderr } = await bax(['session', 'list', '--server', 'http://127.0.0.1:9'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toContain('error: cannot reach the engine at http://127.0.0.1:9')
    expect((await bax(['session', 'list', '--server', 'unix:/nonexistent.sock'])).code).toBe(3)
  })

  test('is named if it is not bax', async () => {
    const { code, stderr } = await bax(['session', 'list', '--server', site.url])
    expect(code).toBe(3)
    expect(stderr).toContain('not a bax server')
  })

  test('must have a valid URL', async () => {
    expect((await bax(['session', 'list', '--server', 'ftp://example.com'])).code).toBe(2)
  })
})
