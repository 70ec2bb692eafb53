/** The session that commands use when none is named. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site
let stateDir: string
/** The user of the current test, whose names have never been used. */
let user: KeyHolder
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({ '/': '<!doctype html><title>Shop</title><button>Buy</button>' })
  stateDir = await mkdtemp(join(tmpdir(), 'bax-default-'))
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(stateDir, { recursive: true, force: true })
})

beforeEach(async () => {
  user = await keyHolder(homes)
})
afterEach(() => user.client.closeSessions())

const run = (line: string, options: CliOptions = {}) =>
  bax(line.split(' '), {
    ...options,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: stateDir, BAX_API_KEY: user.key, ...options.env },
  })

interface Listed {
  readonly session_id: string
  readonly name: string | null
}

const live = async () => (JSON.parse((await run('session list --json')).stdout) as { sessions: Listed[] }).sessions

describe('commands without a session', () => {
  test('continue in the session named default', async () => {
    expect(await run(`goto ${site.url}`)).toMatchObject({ code: 0, stderr: '' })
    expect(await run('get-title')).toMatchObject({ code: 0, stdout: 'Shop\n', stderr: '' })
    expect((await run('snapshot')).stdout).toContain('button "Buy"')
    expect((await run('step get-title')).stdout).toContain('Shop')
    expect((await run('session show default --json')).stdout).toContain(site.url)
    expect(await live()).toMatchObject([{ name: 'default' }])
  })

  test('share one session when they run at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => run('get-title')))
    expect(all.map(({ code }) => code)).toEqual(all.map(() => 0))
    expect(await live()).toMatchObject([{ name: 'default' }])
  })

  test('open a new one after it has ended, and say so', async () => {
    await run('get-title')
    const [{ session_id }] = (await live()) as [Listed]
    await run(`session close ${session_id}`)
    const again = await run('get-title')
    expect(again).toMatchObject({ code: 0, stdout: '\n' })
    expect(again.stderr).toBe(`session ${session_id} has ended: it was closed; opened a new session "default"\n`)
    expect(await live()).toMatchObject([{ name: 'default' }])
  })

  test('use a new session with --new-session', async () => {
    await run(`goto ${site.url}`)
    const other = await run('get-title --new-session')
    expect(other).toMatchObject({ code: 0, stdout: '\n' })
    expect(other.stderr).toMatch(/^session ses_\S+ \(continue with/)
    expect(await live()).toHaveLength(2)
  })

  test('use the session of BAX_SESSION, which must exist', async () => {
    const { code, stderr } = await run('get-title', { env: { BAX_SESSION: 'shop' } })
    expect([code, stderr]).toEqual([5, expect.stringContaining('"shop"')])
    expect(await live()).toEqual([])
  })

  test('save the default session as a profile', async () => {
    await run(`goto ${site.url}`)
    await run('set-cookie tea green')
    expect((await run('profile save tea')).code).toBe(0)
    expect(JSON.parse((await run('profile show tea --json')).stdout)).toMatchObject({ cookies: 1 })
  })

  test('report a missing session where there is nothing to open', async () => {
    const admin = await keyHolder(homes, ['admin'])
    const { code, stderr } = await run('cdp Browser.getVersion', { env: { BAX_API_KEY: admin.key } })
    expect([code, stderr]).toEqual([5, expect.stringContaining('run "bax open"')])
    expect(await live()).toEqual([])
  })
})

describe('bax open', () => {
  test('opens a page in the default session', async () => {
    expect(await run(`open ${site.url}`)).toMatchObject({ code: 0 })
    expect((await run('get-title')).stdout).toBe('Shop\n')
  })

  test('prints the ID of the session without a URL', async () => {
    const { stdout } = await run('open')
    expect(await live()).toMatchObject([{ session_id: stdout.trim(), name: 'default' }])
    expect((await run('open')).stdout).toBe(stdout)
    expect(JSON.parse((await run('open --json')).stdout)).toMatchObject({ session_id: stdout.trim(), status: 'ready' })
  })

  test('creates a session by name', async () => {
    await run(`open -s shop ${site.url}`)
    expect((await run('get-title -s shop')).stdout).toBe('Shop\n')
    expect(await live()).toMatchObject([{ name: 'shop' }])
  })

  test('reports a session ID that does not exist', async () => {
    expect(await run('open -s ses_none')).toMatchObject({ code: 5 })
    expect(await live()).toEqual([])
  })

  test('creates the session with its options, which must agree afterwards', async () => {
    expect(await run(`open --viewport 800x600 --locale de-DE ${site.url}`)).toMatchObject({ code: 0 })
    expect((await run('eval innerWidth')).stdout).toBe('800\n')
    expect(await run('open --viewport 800x600')).toMatchObject({ code: 0 })
    await run('profile save tea')
    expect((await run('open -s guest --profile tea')).code).toBe(0)
    expect((await run('open -s guest --profile tea')).code).toBe(0)
    await run('close guest')
    const differs = await run('open --viewport 700x600')
    expect(differs).toMatchObject({ code: 2, stdout: '' })
    expect(differs.stderr).toContain('session "default" already exists with other settings: --viewport')
    expect((await run('open --viewport 700x600 --new-session')).code).toBe(0)
    expect(await live()).toHaveLength(2)
  })
})
