import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CommandCall } from '../../src/core/shapes/commands.ts'
import { StoredCredentials } from '../../src/engine/store/credentials.ts'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'
import { memoryRecords } from '../support/credential-records.ts'
import { passkeySite } from '../support/passkey-site.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const shop = passkeySite()
/** A site that asks for passkeys of the other one. */
const stranger = passkeySite('shop.localhost')

inUsualHomes(shop.pages, (given) => {
  let site: Site
  let other: Site
  let count = 0
  let credential = ''
  const eventsOf = async (type: string) => {
    const { events } = await given.client().getSessionLog({ session_id: given.sessionId() })
    return events.filter((event) => event.type === type).map(({ data }) => data)
  }
  const go = (path: string, on = site) => given.do('navigate_to', { url: on.url + path })
  const recordOf = async () => {
    const { credentials } = await given.client().listCredentials({})
    return credentials.find(({ name }) => name === credential)
  }
  const create = async () => {
    await go('/settings')
    await given.do('use_passkey', { credential })
    await given.do('click', { selector: 'button' })
    await given.do('wait_for', { text: 'Passkey created' })
    await waitUntil(async () => (await eventsOf('credential.registered')).length > 0)
  }

  beforeAll(async () => {
    // RP IDs are names of hosts: 127.0.0.1 has none.
    site = await serveSite(shop.pages, 'localhost')
    other = await serveSite(stranger.pages, 'localhost')
  })
  afterAll(async () => {
    await site.close()
    await other.close()
  })
  beforeEach(async () => {
    await given.restart()
    credential = `shop${++count}`
    await given.client().addCredential({ name: credential, origins: [site.url], username: 'ann', passkey: true })
  })

  test('are created by a page, stored, and used by a log-in in another session', async () => {
    expect(await recordOf()).toMatchObject({ parts: ['username', 'passkey'], rp_ids: [] })
    await create()
    expect(await eventsOf('credential.registered')).toEqual([{ credential, rp_id: 'localhost', success: true }])
    expect(await recordOf()).toMatchObject({ parts: ['username', 'passkey'], rp_ids: ['localhost'] })
    // Twice: the second session must continue the number of uses.
    for (const _ of ['first', 'second']) {
      await given.restart()
      await go('/login')
      expect(await given.do('login', { credential })).toEqual({ url: `${site.url}/account`, filled: ['passkey'] })
      expect(await eventsOf('credential.used')).toEqual([
        { credential, part: 'passkey', success: true, rp_id: 'localhost' },
      ])
    }
  })

  test.each([
    ['/either', ['username', 'passkey']],
    ['/name-first', ['username', 'passkey']],
    ['/asks-later', ['username', 'passkey']],
  ])('log in on %s with what the site asks for', async (path, filled) => {
    await create()
    await go(path)
    expect(await given.do('login', { credential })).toMatchObject({ url: `${site.url}/account`, filled })
  })

  test.each([
    ['a screenshot as WebP', async () => void (await given.do('screenshot', { format: 'webp' }))],
    ['a look at the history', async () => void (await given.do('go_back'))],
  ])('are still there after %s', async (_, act) => {
    await create()
    await go('/login')
    await given.do('evaluate', { expression: 'history.pushState(null, "", "/login?again")' })
    await act()
    expect(await given.do('login', { credential })).toMatchObject({ filled: ['passkey'] })
  })

  test.each([false, true])('are still there after a CDP client has left, with a replay: %s', async (replay) => {
    await create()
    const created = await given.client().createSession({ headless: true, replay, start_url: `${site.url}/login` })
    const session_id = created.session_id!
    const run = async (...commands: CommandCall[]) =>
      expect(await given.client().runCommands({ session_id, commands })).toMatchObject({ success: true })
    await run({ command: 'use_passkey', data: { credential } })
    const browser = await chromium.connectOverCDP(`${created.cdp_url}?token=${created.frame_token}`)
    await browser.close()
    await run(
      { command: 'click', data: { selector: 'button' } },
      { command: 'wait_for', data: { text: 'Welcome Ann' } },
    )
    await given.client().closeSession({ session_id })
  })

  test('have one number of uses in all tabs, also in those that a page opens', async () => {
    await create()
    for (const _ of ['first', 'second']) {
      await go('/opener')
      await given.do('click', { selector: 'a' })
      await given.do('wait_for', { selector: 'button' })
      await given.do('click', { selector: 'button' })
      await given.do('wait_for', { text: 'Welcome Ann' })
      await given.do('close_tab')
      await go('/login')
      await given.do('click', { selector: 'button' })
      await given.do('wait_for', { text: 'Welcome Ann' })
    }
  })

  test('are saved with profiles, by the name of their credential', async () => {
    await create()
    const { profile_id } = await given.client().saveProfile({ name: credential, session_id: given.sessionId() })
    const open = () => given.client().createSession({ headless: true, profile_id, start_url: `${site.url}/login` })
    const created = await open()
    const session_id = created.session_id!
    const commands = [
      { command: 'click', data: { selector: 'button' } },
      { command: 'wait_for', data: { text: 'Welcome Ann' } },
    ]
    expect(await given.client().runCommands({ session_id, commands })).toMatchObject({ success: true })
    await given.client().closeSession({ session_id })
    await given.client().deleteCredential({ name: credential })
    const without = await open()
    expect(without.warning).toContain(`passkeys of the profile: no credential is named ${credential}`)
    await given.client().closeSession({ session_id: without.session_id! })
  })

  test('are bound to their RP ID, and created only for the origins of the credential', async () => {
    await create()
    await go('/login', other)
    await given.do('click', { selector: 'button' })
    await given.do('wait_for', { text: 'Refused: SecurityError' })
    await given.do('navigate_to', { url: `${other.url.replace('localhost', 'shop.localhost')}/settings` })
    await given.do('click', { selector: 'button' })
    await waitUntil(async () => (await eventsOf('credential.registered')).length > 1)
    expect((await eventsOf('credential.registered'))[1]).toEqual({
      credential,
      rp_id: 'shop.localhost',
      success: false,
      error: `it is for ${site.url}`,
    })
    expect(await recordOf()).toMatchObject({ rp_ids: ['localhost'] })
  })

  test('are forgotten by a rotation, after which pages can create new ones', async () => {
    await create()
    await given.client().rotateCredential({ name: credential, passkey: true })
    expect(await recordOf()).toMatchObject({ rp_ids: [] })
    await given.do('use_passkey', { credential })
    await go('/login')
    expect(await given.fails('login', { credential, timeout_ms: 3000 })).toMatchObject({ code: 'login_failed' })
    await go('/settings')
    await given.do('click', { selector: 'button' })
    await waitUntil(async () => (await recordOf())?.rp_ids?.length === 1)
  })

  test('say that a credential has none, and why a log-in with one failed', async () => {
    await create()
    shop.registered.clear()
    await go('/login')
    expect(await given.fails('login', { credential })).toMatchObject({
      code: 'login_failed',
      error: `could not log in with ${credential}: the page asks for a passkey again: unknown passkey`,
    })
    credential = `plain${count}`
    await given.client().addCredential({ name: credential, origins: [site.url], password: 'correct horse' })
    await go('/settings')
    await given.restart()
    await go('/settings')
    await given.do('use_passkey', { credential })
    await given.do('click', { selector: 'button' })
    await waitUntil(async () => (await eventsOf('credential.registered')).length > 0)
    expect(await eventsOf('credential.registered')).toMatchObject([
      { success: false, error: 'it has no passkeys ("bax credential rotate --passkey")' },
    ])
  })

  test('leave no private key in any result, event or file', async () => {
    const client = given.client()
    await given.do('start_har')
    await given.do('start_trace')
    await create()
    await go('/login')
    const results: unknown[] = [
      await client.runCommands({
        session_id: given.sessionId(),
        commands: [
          { command: 'use_passkey', data: { credential } },
          { command: 'login', data: { credential } },
          { command: 'get_html' },
        ],
      }),
    ]
    results.push(await client.listCredentials({}), await client.getSessionLog({ session_id: given.sessionId() }))
    const [har, trace] = [await given.do('stop_har'), await given.do('stop_trace')]
    const texts = results.map((one) => JSON.stringify(one))
    for (const { name } of [har, trace]) {
      const path = `/sessions/${given.sessionId()}/files/${String(name)}`
      texts.push(Buffer.from(await (await fetch(`${given.homes().baseUrl}${path}`)).arrayBuffer()).toString('latin1'))
    }
    // The beginning of every private key of this kind, in base64.
    for (const one of texts) expect(one).not.toMatch(/MIGHAgEAMBMGByqGSM49/)
  })
})

test('are kept with the highest number of uses, at most twenty in a credential', async () => {
  const uses = { count: () => undefined }
  const store = new StoredCredentials(memoryRecords(), async () => 'a key of sixteen characters', { uses })
  const caller = { keyId: null, admin: true } as never
  await store.add({ name: 'shop', origins: ['https://shop.example'], passkey: true }, caller)
  const { keepPasskey } = await store.use('shop', caller)
  const passkey = { isResidentCredential: true, rpId: 'shop.example', privateKey: 'secret' }
  await keepPasskey({ ...passkey, credentialId: 'a', signCount: 7 })
  await keepPasskey({ ...passkey, credentialId: 'a', signCount: 3 })
  expect((await store.use('shop', caller)).passkeys).toMatchObject([{ credentialId: 'a', signCount: 7 }])
  for (let id = 1; id < 20; id++) await keepPasskey({ ...passkey, credentialId: String(id), signCount: 1 })
  await expect(keepPasskey({ ...passkey, credentialId: 'more', signCount: 1 })).rejects.toMatchObject({
    code: 'unsupported',
  })
})

test('of the command line are stored encrypted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-passkeys-'))
  const run = (line: string) => bax([...line.split(' '), '--embedded'], { cwd: folder, env: { BAX_STATE_DIR: folder } })
  const add = 'credential add shop --origin https://shop.example --passkey --no-password --json'
  expect(JSON.parse((await run(add)).stdout)).toMatchObject({ parts: ['passkey'], rp_ids: [] })
  const rotated = await run('credential rotate shop --passkey --no-password --json')
  expect(JSON.parse(rotated.stdout)).toMatchObject({ parts: ['passkey'] })
  const [file] = await readdir(join(folder, 'credentials'))
  expect(await readFile(join(folder, 'credentials', file!), 'utf8')).not.toContain('passkeys')
  await rm(folder, { recursive: true, force: true })
})
