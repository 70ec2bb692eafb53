/** How the commands for sessions are typed: names, words, flags, and the sessions that they select. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { keyHolder, type KeyHolder } from '../support/owned-objects.ts'
import { type Site, serveSite } from '../support/site.ts'

let homes: Homes
let site: Site
let folder: string
let ann: KeyHolder
let bob: KeyHolder
let admin: KeyHolder
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({ '/': '<title>Shop</title>' })
  ann = await keyHolder(homes)
  bob = await keyHolder(homes)
  admin = await keyHolder(homes, ['admin'])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-cli-'))
})
afterEach(async () => {
  for (const holder of [ann, bob, admin]) await holder.client.closeSessions()
  await rm(folder, { recursive: true, force: true })
})

/** Runs a command line of Ann, or of somebody else. */
const run = (line: string, { env, ...options }: CliOptions = {}, { key } = ann) =>
  bax(line.split(' '), {
    cwd: folder,
    ...options,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state'), BAX_API_KEY: key, ...env },
  })

/** Creates a session and returns its record. */
async function create(flags: string, holder = ann) {
  const { code, stdout, stderr } = await run(`session create --headless ${flags}`.trim(), {}, holder)
  expect([code, stderr]).toEqual([0, ''])
  return holder.client.getSession({ session_id: stdout.trim() })
}

describe('`session create`', () => {
  test('opens the URL that is its word, and takes --name as well as --requested-name', async () => {
    expect(await create(`${site.url} --name one`)).toMatchObject({ url: `${site.url}/`, title: 'Shop', name: 'one' })
    expect(await create(`--start-url ${site.url} --requested-name two`)).toMatchObject({ title: 'Shop', name: 'two' })
    expect(await create(`${site.url} --start-url ${site.url}`)).toMatchObject({ title: 'Shop', name: null })
  })

  test('refuses two different URLs', async () => {
    const { code, stderr } = await run(`session create ${site.url} --start-url ${site.url}/other`)
    expect([code, stderr]).toEqual([2, expect.stringContaining('--start-url "http')])
    expect((await ann.client.listSessions()).total).toBe(0)
  })

  test('lists --name in its help, and not --requested-name', async () => {
    const { stdout } = await run('session create --help')
    expect(stdout).toContain('--name <text>')
    expect(stdout).toContain('--profile <text>')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('to --profile when the session ends')
    expect(stdout).not.toMatch(/--requested-name|--profile-id/)
  })

  test('loads a profile by its name', async () => {
    const saved = await ann.client.saveProfile({ name: 'work' })
    for (const flag of ['--profile work', '--profile-id work', `--profile ${saved.profile_id}`])
      expect(await create(flag)).toMatchObject({ profile_id: saved.profile_id })
    expect((await run('profile show work --json')).stdout).toContain(saved.profile_id)
    expect(await run('session create --profile work', {}, bob)).toMatchObject({ code: 5 })
    expect(await run('profile delete work')).toMatchObject({ code: 0, stderr: '' })
    const { code, stderr } = await run('profile show work')
    expect([code, stderr]).toEqual([5, expect.stringContaining('error: no profile is named "work"')])
  })

  test('accepts the other names of fields over HTTP', async () => {
    const response = await fetch(`${homes.baseUrl}/sessions`, {
      method: 'POST',
      headers: { 'x-api-key': ann.key, 'content-type': 'application/json', prefer: 'handling=strict' },
      body: JSON.stringify({ headless: true, name: 'named' }),
    })
    expect(await response.json()).toMatchObject({ status: 'ready', name: 'named' })
    const document = JSON.stringify(await (await fetch(`${homes.baseUrl}/openapi.json`)).json())
    expect(document).toContain('unique among live sessions; also accepted as name')
  })
})

describe('`session show|log|view|watch|close`', () => {
  const verbs = ['show', 'log', 'view', 'watch --replay all', 'close']

  test.each(verbs)(
    '%s takes an ID or a name as its word or with -s, BAX_SESSION, or the chosen session',
    async (verb) => {
      const env = { BAX_SESSION: 'shop' }
      // The stream of `watch` ends with its session.
      const onOutput = () => verb.startsWith('watch') && void ann.client.closeSessions()
      const attempt = async (words: string, flags = '', options: CliOptions = {}) => {
        const { session_id } = await create(`--name shop ${flags}`)
        const { code, stdout, stderr } = await run(`session ${verb} ${words.replace('ID', session_id)}`.trim(), {
          onOutput,
          ...options,
        })
        await ann.client.closeSessions()
        return [words, code, stderr, verb === 'close' || stdout !== '']
      }
      for (const words of ['shop', 'ID', '-s shop', '--session ID', 'shop -s shop'])
        expect(await attempt(words)).toEqual([words, 0, '', true])
      expect(await attempt('', '', { env })).toEqual(['', 0, '', true])
      expect(await attempt('', '--use')).toEqual(['', 0, '', true])
    },
  )

  test.each(verbs)('%s refuses two different sessions, and an empty name', async (verb) => {
    await create('--name shop --use')
    const [word] = verb.split(' ')
    expect(await run(`session ${word} shop -s other`)).toMatchObject({
      code: 2,
      stderr: 'error: <session-id> "shop" and -s "other" exclude each other\nhint: give one of them\n',
    })
    // An unset variable must not select the chosen session.
    expect(await run(`session ${word} `)).toMatchObject({ code: 2, stderr: 'error: <session-id> must not be empty\n' })
    expect(await run(`session ${word} --session=`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--session must not be empty'),
    })
    expect((await ann.client.getSession({ session_id: 'shop' })).status).toBe('ready')
  })

  test('-s=NAME names the same session as -s NAME', async () => {
    await create('--name shop')
    const [spaced, joined] = [await run('session show -s shop'), await run('session show -s=shop')]
    expect(joined).toMatchObject({ code: 0, stdout: expect.stringContaining('shop') })
    expect(joined.stdout.split('\n')[0]).toBe(spaced.stdout.split('\n')[0])
    expect(await run('session show -s=other')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('"other"'),
    })
  })
})

describe('`close --all`', () => {
  test('closes the live sessions of the own key and prints them', async () => {
    const [one, two] = [await create('--name one'), await create(site.url)]
    const others = await create('', bob)
    const { code, stdout, stderr } = await run('close --all')
    expect([code, stderr]).toEqual([0, ''])
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head).toMatch(/^SESSION_ID +NAME +URL$/)
    expect(rows.map((row) => row.split(/ +/)[0]).toSorted()).toEqual([one.session_id, two.session_id].toSorted())
    expect((await ann.client.listSessions()).total).toBe(0)
    expect(await bob.client.getSession({ session_id: others.session_id })).toMatchObject({ status: 'ready' })
  })

  test('prints the response with --json, and leaves the sessions of other keys open for an admin, too', async () => {
    const others = await create('--name kept')
    const own = await create('', admin)
    const { code, stdout } = await run('session close --all --json', {}, admin)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      total: 1,
      sessions: [{ session_id: own.session_id, status: 'stopped', end_reason: 'deleted' }],
    })
    expect(await ann.client.getSession({ session_id: others.session_id })).toMatchObject({ status: 'ready' })
  })

  test('succeeds if there are no sessions', async () => {
    expect(await run('session close --all')).toMatchObject({ code: 0, stdout: '', stderr: 'no sessions\n' })
    expect(JSON.parse((await run('close --all --json')).stdout)).toEqual({
      sessions: [],
      total: 0,
      provisions: [],
      cancelled: 0,
    })
  })

  test('takes no session', async () => {
    for (const line of ['close --all shop', 'session close -s shop --all'])
      expect(await run(line)).toMatchObject({
        code: 2,
        stderr: 'error: --all and a session exclude each other\nhint: give one of them\n',
      })
    expect(await run('close --all', { env: { BAX_SESSION: 'shop' } })).toMatchObject({ code: 0 })
  })
})

describe('errors of the engine about fields', () => {
  test.each([
    ['session create --timeout-secs 0', '--timeout-secs must be at least 1, not 0'],
    ['session create --name=..', '--name must not be . or ..'],
    ['session create --requested-name=..', '--name must not be . or ..'],
    ['session create --viewport 0x10', '--viewport: width must be at least 1, not 0'],
    ['session create --start-url=', '--start-url must not be empty'],
    ['session create --profile=', '--profile must not be empty'],
    ['session create shop', '[start-url] is a single word: shop'],
    ['session new my-shop_2 --use', '[start-url] is a single word: my-shop_2'],
    ['profile save ..', '<name> must not be . or ..'],
    ['crawl http://127.0.0.1:1/ --limit 0', '--limit must be at least 1, not 0'],
    ['scrape http://127.0.0.1:1/ http://127.0.0.1:2/ --timeout 0', '--timeout must be at least 1, not 0'],
    ['search tea --limit 1000', '--limit must be at most 20, not 1000'],
    ['-s shop wait-for-element #a --timeout-ms -5', '--timeout-ms must be at least 0, not -5'],
    ['do -s shop get-title then click-at 1 200000', 'click-at (2 of 2): <y> must be at most 100000, not 200000'],
    ['step -s shop --limit 0 click #a', '--limit must be at least 1, not 0'],
    ['relay events laptop --limit 0', '--limit must be at least 1, not 0'],
  ])('`bax %s` names the flag or word and the value', async (line, sentence) => {
    const { code, stdout, stderr } = await run(line, {}, admin)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${sentence}`)
  })

  test('keep the names of fields in the response of --json, and of commands from standard input', async () => {
    const { stdout, stderr } = await run('session create --timeout-secs 0 --json')
    expect(JSON.parse(stdout)).toMatchObject({ error: 'timeout_secs must be at least 1' })
    expect(stderr).toContain('error: --timeout-secs must be at least 1, not 0')
    const stdin = JSON.stringify([{ command: 'click', data: { selector: '' } }])
    expect((await run('do - -s shop', { stdin })).stderr).toContain('commands[0].data.selector must not be empty')
  })
})
