/** State files damaged in every way, of every kind at once: each affects only itself. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keylessCaller } from '../../src/core/access/caller.ts'
import { removeAbandoned } from '../../src/core/state/state-check.ts'
import { stateLock } from '../../src/core/state/state-dir.ts'
import { writeState } from '../../src/core/state/state-file.ts'
import { encodeRecord } from '../../src/core/state/state-record.ts'
import { ArtifactStore } from '../../src/engine/shell/artifacts/store.ts'
import { KeyStore } from '../../src/engine/store/keys.ts'
import { ProfileStore } from '../../src/engine/store/profiles.ts'
import { bax } from '../support/cli.ts'
import { linkPage } from '../support/crawl.ts'
import { openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const shellSession = `sh_${'a'.repeat(20)}`
const deadPid = 2 ** 22 - 1
let whole: string
let site: Site
/** The damaged file of each kind, relative to the state folder. */
let files: Record<string, string>
let good: { profile: string; key: string; artifact: string; crawl: string }
let bad: { profile: string; key: string; artifact: string; crawl: string }

beforeAll(async () => {
  whole = await mkdtemp(join(tmpdir(), 'bax-damaged-'))
  site = await serveSite({ '/a': linkPage('a', ['/b', '/c']), '/b': linkPage('b'), '/c': linkPage('c') })
  const homes = await openHomes({ home: 'local', stateDir: whole })
  try {
    const crawlOnce = async () => {
      const { id } = (await homes.clients.embedded.crawl({
        url: `${site.url}/a`,
        render: 'http',
        limit: 5,
      } as never)) as { id: string }
      return id
    }
    await homes.clients.embedded.createRelayToken({ name: 'far', ttl_secs: 3600 } as never)
    const store = new ProfileStore(whole)
    const keys = new KeyStore(whole)
    const profile = async (name: string) =>
      (await store.add(name, { cookies: [], origins: [] }, keylessCaller)).profile_id
    const key = async (name: string) => (await keys.create({ name, scopes: ['scrape'] })).key_id
    const artifacts = new ArtifactStore(whole)
    await artifacts.noteSession({ id: shellSession, owner: null, endsBy: new Date(Date.now() + 3_600_000) }, null)
    const artifact = async (number: number) => {
      const id = `art_${String(number).repeat(20)}`
      const facts = {
        id,
        artifact_id: id,
        session_id: shellSession,
        exec_id: null,
        created_at: new Date().toISOString(),
        mount: '/output',
        complete: true,
        total_bytes: 0,
        files: [],
        deleted: [],
        skipped: [],
      }
      await artifacts.add(facts as never, number)
      return id
    }
    good = {
      profile: await profile('ann'),
      key: await key('ann'),
      artifact: await artifact(1),
      crawl: await crawlOnce(),
    }
    bad = {
      profile: await profile('bob'),
      key: await key('bob'),
      artifact: await artifact(2),
      crawl: await crawlOnce(),
    }
  } finally {
    await homes.close()
  }
  const at = new Date().toISOString()
  const ended = (session_id: string) =>
    encodeRecord({
      owner: null,
      session: {
        session_id,
        status: 'stopped',
        name: null,
        url: 'https://example.com/',
        title: 'Example',
        headless: true,
        user_agent: 'Mozilla/5.0',
        viewport: { width: 1280, height: 720 },
        profile_id: null,
        tabs: 0,
        worker_id: 'local-1',
        tags: {},
        controlled_by_person: false,
        created_at: at,
        last_activity_at: at,
        expires_at: at,
        idle_timeout_secs: 300,
        timeout_secs: 3600,
        commands_run: 3,
        ended_at: at,
        end_reason: 'deleted',
      },
    })
  mkdirSync(join(whole, 'sessions'), { recursive: true })
  const tombstones = (name: string, id: string) =>
    writeFile(join(whole, 'sessions', name), `${encodeRecord({ pid: deadPid, began: 'never' })}\n${ended(id)}\n`)
  await tombstones('1-aaaaaaaaaaaa.ndjson', 'ses_good')
  await tombstones('2-bbbbbbbbbbbb.ndjson', 'ses_bad')
  await writeState(join(whole, 'session.json'), { session_id: 'ses_good', home: 'local' })
  await writeState(join(whole, 'engine.json'), {
    pid: deadPid,
    version: '1.0.0',
    started_at: '',
    socket: join(whole, 'gone.sock'),
  })
  await stateLock(whole, { platform: process.platform, nodeVersion: process.version })
  files = {
    profile: `profiles/${bad.profile}.json`,
    key: `keys/${bad.key}.json`,
    tokens: 'relay-tokens.json',
    tombstones: 'sessions/2-bbbbbbbbbbbb.ndjson',
    request: `crawls/${bad.crawl}/request.json`,
    journal: `crawls/${bad.crawl}/journal.ndjson`,
    pages: `crawls/${bad.crawl}/pages.ndjson`,
    artifact: `artifacts/${shellSession}/00000002-${bad.artifact}.json`,
    choice: 'session.json',
    engine: 'engine.json',
    lock: 'engine.key',
  }
})
afterAll(async () => {
  await site.close()
  await rm(whole, { recursive: true })
})

const flip = (path: string, at: (length: number) => number) => {
  const bytes = readFileSync(path)
  bytes[at(bytes.length)]! ^= 0x10
  writeFileSync(path, bytes)
}
const damages: Record<string, (path: string) => void> = {
  'cut off in the middle': (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  'with a flipped byte': (path) => flip(path, (length) => Math.floor(length / 2)),
  'with a flipped byte at the beginning': (path) => flip(path, () => 0),
  empty: (path) => truncateSync(path, 0),
  'of random bytes': (path) =>
    writeFileSync(path, Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 7919) % 251))),
  'of another shape': (path) => writeFileSync(path, '{"some":"json"}\n'),
  'as a folder': (path) => {
    rmSync(path)
    mkdirSync(path)
  },
}
/** Truncated or empty journals are not damaged: a killed process leaves them. */
const isTorn = (damage: string, kind: string) =>
  /^(?:tombstones|journal|pages)$/.test(kind) && /^(?:cut|empty)/.test(damage)

async function damaged(damage: (path: string) => void, kinds = Object.keys(files)): Promise<string> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-damaged-'))
  await cp(whole, stateDir, { recursive: true })
  for (const kind of kinds) damage(join(stateDir, files[kind]!))
  return stateDir
}

type Body = Record<string, unknown> & { crawls: { id: string }[] }
const run = async (stateDir: string, ...argv: string[]) => {
  const { code, stdout, stderr } = await bax([...argv, '--json'], { env: { BAX_STATE_DIR: stateDir } })
  return { code, stderr, body: stdout.trim() === '' ? undefined : (JSON.parse(stdout) as Body | null) }
}
const damagedIn = async (stateDir: string): Promise<string> => {
  const { body } = await run(stateDir, 'doctor')
  const check = (body!['checks'] as { name: string; ok: boolean; mend?: string }[]).find(
    ({ name }) => name === 'state files',
  )
  return check!.ok ? '' : check!.mend!
}

describe.each(Object.entries(damages))('state files %s', (name, damage) => {
  test('are named by the doctor, and intact files of the same kind are used', async () => {
    const stateDir = await damaged(damage)
    try {
      const report = await damagedIn(stateDir)
      for (const [kind, file] of Object.entries(files)) if (!isTorn(name, kind)) expect(report).toContain(file)

      const profiles = await run(stateDir, 'profile', 'list', '--embedded')
      expect([profiles.code, profiles.body!['profiles']]).toMatchObject([0, [{ profile_id: good.profile }]])
      expect(profiles.body!['warning']).toContain(`${bad.profile}.json`)
      const keys = await run(stateDir, 'key', 'list', '--embedded')
      expect([keys.code, keys.body!['keys']]).toMatchObject([0, [{ key_id: good.key }]])

      // A list is a single file: it is reported once, and created again.
      expect((await run(stateDir, 'relay', 'tokens', 'list', '--embedded')).stderr).toContain(
        'relay-tokens.json is damaged',
      )
      expect(await run(stateDir, 'relay', 'tokens', 'list', '--embedded')).toMatchObject({ code: 0 })
      expect((await run(stateDir, 'session', 'use')).stderr).toContain('session.json is damaged')
      expect(await run(stateDir, 'session', 'use')).toMatchObject({ code: 0, body: null })
      await stateLock(stateDir, { platform: process.platform, nodeVersion: process.version })

      const crawls = await run(stateDir, 'crawl', 'list', '--embedded')
      expect(crawls.code).toBe(0)
      expect(crawls.body!.crawls.map(({ id }) => id)).toContain(good.crawl)

      const saved = await run(stateDir, 'profile', 'save', 'bob', '--embedded')
      expect(saved.code).toBe(0)
      expect((await run(stateDir, 'profile', 'delete', bad.profile, '--embedded')).code).toBe(0)
      expect(readdirSync(join(stateDir, 'profiles')).toSorted()).toEqual(
        [`${good.profile}.json`, `${saved.body!['profile_id']}.json`].toSorted(),
      )
      // Files that were moved aside are still named.
      expect(await damagedIn(stateDir)).toContain(`${files['key']}.damaged-`)

      const homes = await openHomes({ home: 'local', stateDir })
      const { sessions } = await homes.clients.embedded.listSessions({ status: 'all' } as never)
      expect(sessions.map(({ session_id }) => session_id)).toContain('ses_good')
      const { artifacts, warning } = await homes.clients.embedded.listArtifacts({ session_id: shellSession } as never)
      expect(artifacts.map(({ id }) => id)).toEqual([good.artifact])
      expect(warning).toContain(bad.artifact)
      await homes.close()
    } finally {
      await rm(stateDir, { recursive: true, force: true })
    }
  })

  test.each(['request', 'journal', 'pages'])(
    'of a crawl (%s) lose no page: resuming it restores the same pages',
    async (kind) => {
      const stateDir = await damaged(damage, [kind])
      const homes = await openHomes({ home: 'local', stateDir })
      const client = homes.clients.embedded
      try {
        const before = await client.getCrawl({ id: bad.crawl })
        // Missing pages are reported.
        for (const { metadata } of before.data) expect(metadata.sourceURL).toMatch(/\/[abc]$/)
        const broken = before.data.filter(({ markdown }) => markdown === undefined)
        if (broken.length > 0) expect(before.warning).toContain('damaged')
        if (before.status === 'completed' && broken.length === 0) return
        await client.resumeCrawl({ id: bad.crawl })
        await waitUntil(async () => (await client.getCrawl({ id: bad.crawl })).status !== 'scraping')
        const [after, expected] = [await client.getCrawl({ id: bad.crawl }), await client.getCrawl({ id: good.crawl })]
        expect([after.status, after.data]).toEqual(['completed', expected.data])
      } finally {
        await homes.close()
        await rm(stateDir, { recursive: true, force: true })
      }
    },
  )
})

describe('keys', () => {
  test('are still required if the only one is damaged', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'bax-damaged-'))
    const { key, key_id } = await new KeyStore(stateDir).create({ name: 'only', scopes: ['admin'] })
    await writeFile(join(stateDir, 'keys', `${key_id}.json`), '{')
    for (const store of [new KeyStore(stateDir), new KeyStore(stateDir)]) {
      expect(store.required()).toBe(true)
      expect(() => store.callerOf(key)).toThrow(expect.objectContaining({ code: 'unauthorized' }))
      expect(store.warning()).toContain(key_id)
    }
    await rm(stateDir, { recursive: true })
  })

  test('written by earlier versions of bax are accepted', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'bax-damaged-'))
    const { key, key_id } = await new KeyStore(stateDir).create({ name: 'old', scopes: ['admin'] })
    const path = join(stateDir, 'keys', `${key_id}.json`)
    const { $bax: _, $check: __, ...old } = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>
    await writeFile(path, `${JSON.stringify(old, null, 2)}\n`)
    expect(new KeyStore(stateDir).callerOf(key)).toMatchObject({ name: 'old' })
    await rm(stateDir, { recursive: true })
  })
})

test('temporary files of killed processes are removed, and those of running ones kept', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-damaged-'))
  mkdirSync(join(stateDir, 'profiles'))
  mkdirSync(join(stateDir, 'downloads'))
  const hex = 'abcdef012345'
  const make = async (name: string, ageMs: number) => {
    const path = join(stateDir, name)
    await writeFile(path, '')
    const time = new Date(Date.now() - ageMs)
    await utimes(path, time, time)
    return existsSync(path)
  }
  const minute = 60_000
  const [dead, alive, young] = [
    `.bax-${deadPid}-${hex}.tmp`,
    `.bax-${process.pid}-${hex}.tmp`,
    `.bax-${deadPid}-${hex.replace('a', 'b')}.tmp`,
  ]
  await make(`profiles/${dead}`, minute)
  await make(`profiles/${alive}`, minute)
  await make(`profiles/${young}`, 0)
  await make(`profiles/d.json.${hex}.tmp`, 61 * minute)
  await make(`downloads/${dead}`, 61 * minute)
  expect(removeAbandoned(stateDir).toSorted()).toEqual([`profiles/${dead}`, `profiles/d.json.${hex}.tmp`])
  expect(readdirSync(stateDir, { recursive: true })).toHaveLength(5)
  await rm(stateDir, { recursive: true })
})
