/** File names that try to be paths: nothing outside the intended folder is changed or revealed. */
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, download, follow } from '../../src/client/client.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { type Homes, isFleet, openHomes } from '../support/homes.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
let site: Site

beforeAll(async () => {
  const download = (
    name: string,
  ): [string, (request: unknown, response: import('node:http').ServerResponse) => void] => [
    `/${Buffer.from(name).toString('hex')}`,
    (_, response) => {
      const spelled = encodeURIComponent(name).replaceAll("'", '%27')
      response.setHeader('content-disposition', `attachment; filename*=UTF-8''${spelled}`)
      response.end('from a page')
    },
  ]
  ;[homes, site] = await Promise.all([
    openHomes({ writeAnywhere: false }),
    serveSite({ '/': '<title>Home</title><h1>Home</h1>', ...Object.fromEntries(hostileNames.map(download)) }),
  ])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

/** Download names that a page may suggest. */
const hostileNames = [
  '../../../escaped.txt',
  '..\\..\\escaped.txt',
  '/etc/escaped.txt',
  'C:\\Windows\\escaped.txt',
  '%2e%2e%2fescaped.txt',
  '..',
  '.bashrc',
  'a\0b.txt',
  'line\nbreak.txt',
  'é'.repeat(300),
  `${'x'.repeat(5000)}.txt`,
]

/** Returns the names of all files and folders below a folder, except links. */
async function treeOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true })
  const facts = await Promise.all(
    entries.map(async (name) => ({ name, isLink: (await lstat(join(folder, name))).isSymbolicLink() })),
  )
  return facts
    .filter(({ isLink }) => !isLink)
    .map(({ name }) => name)
    .toSorted()
}

async function read(session_id: string, name: string): Promise<string> {
  const http = 'GET /sessions/{session_id}/files/{name}'
  let text = ''
  for await (const chunk of (await download(homes.transports.http, http, { session_id, name })).bytes)
    text += Buffer.from(chunk).toString('latin1')
  return text
}

async function shoot(session_id: string, path: string): Promise<CommandResult> {
  const { results } = await homes.clients.http.runCommands({
    session_id,
    commands: [{ command: 'screenshot', data: { path } }],
  })
  return results[0]!
}

describe('the path of a screenshot', () => {
  let session: string
  beforeAll(async () => {
    session = (await homes.clients.http.createSession({ headless: true })).session_id!
    await shoot(session, 'first.png')
  })

  test.each([
    '../escaped.png',
    '..',
    '.',
    './',
    'a/../..',
    'a/../../escaped.png',
    '/etc/escaped.png',
    '//etc/escaped.png',
    '/proc/self/cwd/escaped.png',
  ])('%j is rejected', async (path) => {
    const before = await treeOf(homes.stateDir)
    expect(await shoot(session, path)).toMatchObject({ success: false, code: 'invalid_data' })
    expect(await treeOf(homes.stateDir)).toEqual(before)
  })

  test.each([
    ['too long a name', 'x'.repeat(300)],
    ['too long a path', 'd/'.repeat(2040) + 'x'],
    ['a file as its folder', 'first.png/below.png'],
    ['a folder as its file', 'shots'],
  ])('with %s is rejected with an error that does not reveal server paths', async (_, path) => {
    expect(await shoot(session, 'shots/second.png')).toMatchObject({ success: true })
    const result = await shoot(session, path)
    expect(result).toMatchObject({ success: false, code: 'invalid_data' })
    expect(JSON.stringify(result)).not.toContain(homes.stateDir)
    expect((await shoot(session, 'again.png')).success).toBe(true)
  })

  test('with a NUL is rejected before anything runs', async () => {
    const error = await failureOf(shoot(session, 'a\0.png'))
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('commands[0].data.path') })
  })

  test.each([
    '%2e%2e/%2e%2e/shot.png',
    '..\\..\\shot.png',
    'C:\\shot.png',
    '~/shot.png',
    'a/../shot.png',
    '..a/shot.png',
  ])('%j is a regular file name', async (path) => {
    const name = (await shoot(session, path)).data!['path'] as string
    expect(name).not.toMatch(/^\.\.(\/|$)/)
    expect((await read(session, name)).slice(1, 4)).toBe('PNG')
  })

  test('cannot be in the folder of another session, or in one of the engine', async () => {
    const { session_id } = await homes.clients.http.createSession({ headless: true })
    expect(await shoot(session, `../${session_id}/own.png`)).toMatchObject({ success: false, code: 'invalid_data' })
    expect(await shoot(session, '.uploads/1/own.png')).toMatchObject({ success: false, code: 'invalid_data' })
  })
})

describe('the name of a download', () => {
  test.each(hostileNames)('%j is saved in the folder of its session', async (name) => {
    const { session_id } = await homes.clients.http.createSession({ headless: true, start_url: site.url })
    const url = `/${Buffer.from(name).toString('hex')}`
    const commands = [{ command: 'evaluate', data: { expression: `void (location.href = ${JSON.stringify(url)})` } }]
    await homes.clients.http.runCommands({ session_id: session_id!, commands })
    for await (const frame of follow(homes.transports.http, 'GET /stream/sse', {
      session_id,
      replay: 'all',
    })) {
      if (frame.type !== 'download.finished') continue
      const { data } = frame as unknown as { data: { success: boolean; path: string; filename: string } }
      const { success, path, filename } = data
      expect(success).toBe(true)
      expect(filename).toBe(path)
      expect(filename).not.toMatch(/^\.|[/\\\0]/)
      expect(await read(session_id!, filename)).toBe('from a page')
      break
    }
    await homes.clients.http.closeSession({ session_id: session_id! })
  })
})

describe('a profile', () => {
  test.each(['..', 'a\0b'])('cannot be named %j', async (name) => {
    const before = await treeOf(homes.stateDir)
    expect(await failureOf(homes.clients.http.saveProfile({ name }))).toMatchObject({ code: 'invalid_request' })
    expect(await treeOf(homes.stateDir)).toEqual(before)
  })

  test.each(['../../escaped', '/etc/escaped', 'C:\\escaped', '%2e%2e%2f'])(
    'can be named %j, which is not used as a path',
    async (name) => {
      const before = await treeOf(homes.stateDir)
      const { profile_id } = await homes.clients.http.saveProfile({ name })
      const made = (await treeOf(homes.stateDir)).filter((entry) => !before.includes(entry))
      // A fleet has its profiles in Redis.
      expect(made.filter((entry) => entry !== 'profiles')).toEqual(isFleet ? [] : [`profiles/${profile_id}.json`])
      expect(await homes.clients.http.getProfile({ profile_id })).toMatchObject({ name })
      await homes.clients.http.deleteProfile({ profile_id })
    },
  )

  test('is only found by its ID or name, whatever files exist next to it', async () => {
    await mkdir(join(homes.stateDir, 'profiles'), { recursive: true })
    const secret = join(homes.stateDir, 'secret.json')
    await writeFile(
      secret,
      JSON.stringify({ profile_id: 'secret', name: 'secret', state: { cookies: [], origins: [] } }),
    )
    const { profile_id } = await homes.clients.http.saveProfile({ name: 'mine' })
    for (const id of [
      '../secret',
      '..%2Fsecret',
      '%2e%2e%2fsecret',
      `../profiles/${profile_id}`,
      `${profile_id}.json`,
      `${profile_id}\0`,
      '..\\secret',
      join(homes.stateDir, 'secret'),
    ]) {
      const failure = await failureOf(homes.clients.http.getProfile({ profile_id: id }))
      expect([id, failure.code]).toEqual([
        id,
        expect.stringMatching(/^(invalid_request|profile_not_found|route_not_found)$/),
      ])
      const load = await failureOf(homes.clients.http.createSession({ profile_id: id }))
      expect([id, load.code]).toEqual([id, expect.stringMatching(/^(invalid_request|profile_not_found)$/)])
      const raw = await failureOf(call(homes.transports.http, 'DELETE /profiles/{profile_id}', { profile_id: id }))
      expect([id, raw.code]).toEqual([
        id,
        expect.stringMatching(/^(invalid_request|profile_not_found|route_not_found)$/),
      ])
    }
    expect(await readFile(secret, 'utf8')).toContain('secret')
    expect(await homes.clients.http.getProfile({ profile_id })).toMatchObject({ name: 'mine' })
  })
})
