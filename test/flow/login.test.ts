import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { totpCode } from '../../src/engine/store/totp.ts'
import { spellingsOf } from '../support/attacks.ts'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'
import { account, loginPages } from '../support/login-site.ts'
import { both, testLogins, testRefusals, withCredentials } from '../support/logins.ts'
import { connectMcp } from '../support/mcp.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

inUsualHomes(loginPages, (given) => {
  let elsewhere: Site
  beforeAll(async () => {
    elsewhere = await serveSite(loginPages, 'localhost')
  })
  afterAll(() => elsewhere.close())
  withCredentials(given)

  testLogins(given, [
    ['/plain', both],
    ['/with-code', [...both, 'totp']],
    ['/framed', both],
  ])

  testRefusals(given, [
    ['wrong', '/plain', 'the page asks for username and password again: Wrong user name or password'],
    ['plain', '/with-code', 'the page asks for a totp, which plain does not have'],
  ])

  test('gives nothing to another origin', async () => {
    await given.do('navigate_to', { url: `${elsewhere.url}/plain` })
    expect((await given.fails('login', { credential: 'ann' })).code).toBe('origin_mismatch')
    expect(elsewhere.requests).not.toContain('/session')
  })

  test.each(['text', 'tel', 'number'])('shows no code in a field of the type %s', async (type) => {
    await given.open('/together')
    const otp = `document.querySelector('[name=otp]')`
    await given.do('evaluate', { expression: `${otp}.type = '${type}'` })
    await given.do('fill', { selector: '[name=otp]', credential: 'ann.totp' })
    const shown = await given.evaluate(`[${otp}.value.length, getComputedStyle(${otp}).webkitTextSecurity]`)
    expect(shown).toEqual([6, 'disc'])
  })

  test('gives one password to the origins of all credentials that have it', async () => {
    await given.client().addCredential({ name: 'twin', origins: [elsewhere.url], ...account })
    for (const [{ url }, credential] of [
      [given.site(), 'ann'],
      [elsewhere, 'twin'],
      [given.site(), 'ann'],
    ] as const) {
      await given.do('navigate_to', { url: `${url}/plain` })
      expect(await given.do('login', { credential })).toEqual({ url: `${url}/account`, filled: both })
    }
    await given.client().deleteCredential({ name: 'twin' })
  })

  test('leaves no password or code in a replay, also where a later page shows it', async () => {
    const client = given.client()
    const { session_id = '' } = await client.createSession({
      headless: true,
      replay: true,
      start_url: given.url('/together'),
    })
    const read = `[...document.querySelectorAll('input')].map(({ value }) => value)`
    const commands = [
      { command: 'fill', data: { selector: '[name=pw]', credential: 'ann.password' } },
      { command: 'fill', data: { selector: '[name=otp]', credential: 'ann.totp' } },
      { command: 'evaluate', data: { expression: `(window.name = JSON.stringify(${read}), 1)` } },
      { command: 'navigate_to', data: { url: given.url('/account') } },
      { command: 'evaluate', data: { expression: `(document.body.append(...JSON.parse(name)), 1)` } },
      { command: 'get_url' },
    ]
    expect(await client.runCommands({ session_id, commands })).toMatchObject({ success: true })
    const html = await (await fetch(`${given.homes().baseUrl}/diagnostics/${session_id}/replay`)).text()
    const packed = /id="pages">([^<]+)/.exec(html)![1]!
    const shown = html + gunzipSync(Buffer.from(packed, 'base64')).toString()
    expect(shown).toContain('Welcome Ann')
    for (const spelling of spellingsOf(account.password)) expect(shown.includes(spelling)).toBe(false)
    const codes = [0, 30_000].map((ago) => totpCode(account.totp, Date.now() - ago))
    for (const code of await Promise.all(codes)) expect(shown.includes(code)).toBe(false)
    await client.closeSession({ session_id })
  })
})

describe('without the API', () => {
  let site: Site
  let folder: ScriptFolder
  beforeAll(async () => {
    site = await serveSite(loginPages)
    folder = await scriptFolder()
  })
  afterAll(async () => {
    await folder.close()
    await site.close()
  })

  test('agents log in by lines of MCP, and see no secret', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'bax-login-'))
    const { username, password, totp } = account
    const env = { BAX_STATE_DIR: stateDir }
    const add = `credential add ann --origin ${site.url} --username ${username} --totp --embedded`
    expect((await bax(add.split(' '), { env, stdin: `${password}\n${totp}\n` })).code).toBe(0)
    const mcp = await connectMcp([], { env })
    await mcp.call('browser_open', { url: `${site.url}/with-code` })
    const filled = await mcp.call('browser_act', {
      commands: [`fill '[name=pw]' --credential ann.password`, `evaluate "document.querySelector('[name=pw]').value"`],
    })
    expect(filled.text).toContain('***')
    const acted = await mcp.call('browser_act', { commands: ['login ann'] })
    expect(acted.text).toContain('Welcome Ann')
    const refused = await mcp.call('browser_act', { commands: [`fill '[name=q]' --credential ann.password`] })
    expect(refused.text).toContain('not_editable')
    await mcp.close()
    for (const spelling of spellingsOf(password)) expect(mcp.output.join('')).not.toContain(spelling)
    await rm(stateDir, { recursive: true, force: true })
  })

  test('scripts log in, and fill fields', async () => {
    const add = `credential add ann --origin ${site.url} --username ann --embedded --state-dir ${folder.state}`
    expect((await bax(add.split(' '), { stdin: `${account.password}\n` })).code).toBe(0)
    await folder.write(
      'login.yaml',
      `steps:
  - open: ${site.url}/plain
  - login: ann
  - verify: {text: Welcome Ann}
  - open: ${site.url}/plain
  - fill: {selector: '[name=user]', credential: ann.username}
  - fill: {selector: '[name=pw]', credential: ann.password}
  - click: button
  - verify: {text: Welcome Ann}
`,
    )
    const ran = await folder.run(['login.yaml'])
    expect(ran).toMatchObject({ code: 0 })
    for (const spelling of spellingsOf(account.password)) expect(ran.stdout + ran.stderr).not.toContain(spelling)
  })
})
