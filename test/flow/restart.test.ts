import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keylessCaller } from '../../src/core/access/caller.ts'
import { ArtifactStore } from '../../src/engine/shell/artifacts/store.ts'
import { ProfileStore } from '../../src/engine/store/profiles.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { nameOf, otherClient } from '../support/docker.ts'
import { type HeldPage, heldPages } from '../support/held-pages.ts'
import { type HostProgram, makeHostProgram } from '../support/host-process.ts'
import { type RunningServer, serve, stop } from '../support/server.ts'
import { isRunning } from '../support/session-steps.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let site: Site
let held: HeldPage
let temporary: string

const page = (title: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>Some words of this page.</p>` +
  `${links.map((link) => `<a href="${link}">${link}</a>`).join(' ')}</main>`

beforeAll(async () => {
  held = heldPages()
  temporary = await mkdtemp(join(tmpdir(), 'bax-test-tmp-'))
  ;[built, site] = await Promise.all([
    buildBax(),
    serveSite({
      '/': page('Home', '/one', '/two'),
      '/one': page('One'),
      '/two': page('Two'),
      '/slow/': page('Slow', '/slow/one', '/slow/held'),
      '/slow/one': page('Slow one'),
      '/slow/held': held.page,
    }),
  ])
})
afterAll(async () => {
  held.release()
  await built.close()
  await site.close()
  await rm(temporary, { recursive: true, force: true })
})

const flags = ['--allow-private', '127.0.0.0/8']
const start = (stateDir?: string, more: readonly string[] = []) =>
  serve(built, [...flags, ...more], { ...(stateDir && { stateDir }), env: { TMPDIR: temporary } })

async function kill(server: RunningServer): Promise<void> {
  server.child.kill('SIGKILL')
  await server.ended
}

const titleOf = (session_id: string) => ({ session_id, commands: [{ command: 'get_title' }] })

describe('a killed server', () => {
  test('keeps sessions, profiles and crawls after a restart', async () => {
    const keyFile = join(await built.stateDir(), 'profile.key')
    await writeFile(keyFile, 'a secret that nobody guesses\n')
    const server = await start(undefined, ['--profile-key-file', keyFile])
    const make = async (input: object = {}) =>
      (await server.request('POST', '/sessions', input)).body.session_id as string
    const [alive, closed] = [await make({ requested_name: 'shop', start_url: site.url }), await make()]
    await server.request('DELETE', `/sessions/${closed}`)
    const cookie = { command: 'evaluate', data: { expression: 'document.cookie = "login=ann; max-age=3600"' } }
    await server.request('POST', '/commands', { session_id: alive, commands: [cookie] })
    const profile = (await server.request('POST', '/profiles', { name: 'ann', session_id: alive })).body
    const crawled = (await server.request('POST', '/v1/crawl', { url: site.url, render: 'http' })).body
    const interrupted = (
      await server.request('POST', '/v1/crawl', {
        url: `${site.url}/slow/`,
        render: 'http',
        async: true,
        concurrency: 1,
      })
    ).body
    await held.requested()
    const { browsers } = (await server.request('GET', '/engine')).body
    await kill(server)
    await waitUntil(() => browsers.every(({ pid }: { pid: number }) => !isRunning(pid)))
    await waitUntil(async () => (await readdir(temporary)).length === 0)

    const restarted = await start(server.stateDir, ['--profile-key-file', keyFile])
    expect((await restarted.request('GET', '/sessions/shop')).body).toMatchObject({
      session_id: alive,
      status: 'failed',
      end_reason: 'worker_lost',
      tabs: 0,
    })
    const [lost, deleted] = await Promise.all(
      [alive, closed].map((id) => restarted.request('POST', '/commands', titleOf(id))),
    )
    expect(lost).toMatchObject({ status: 410, body: { code: 'session_closed', details: { reason: 'worker_lost' } } })
    expect(deleted).toMatchObject({ status: 410, body: { details: { reason: 'deleted' } } })
    expect((await restarted.request('GET', `/stream/sse?session_id=${alive}`)).status).toBe(204)
    expect((await restarted.request('DELETE', `/sessions/${alive}`)).status).toBe(204)
    expect((await restarted.request('GET', '/sessions?status=all')).body.total).toBe(2)
    // Its name is available again.
    const successor = await restarted.request('POST', '/sessions', {
      requested_name: 'shop',
      profile_id: profile.profile_id,
      start_url: site.url,
    })
    const read = { command: 'evaluate', data: { expression: 'document.cookie' } }
    const { body } = await restarted.request('POST', '/commands', {
      session_id: successor.body.session_id,
      commands: [read],
    })
    expect(body.results[0].data.result.value).toBe('login=ann')
    expect(await readFile(join(server.stateDir, 'profiles', `${profile.profile_id}.json`), 'utf8')).not.toContain('ann')

    expect((await restarted.request('GET', `/v1/crawl/${crawled.id}`)).body).toMatchObject({
      status: 'completed',
      total: 3,
    })
    const half = (await restarted.request('GET', `/v1/crawl/${interrupted.id}`)).body
    expect(half).toMatchObject({ status: 'failed', completed: 2 })
    held.release()
    const resumed = restarted.request('POST', `/v1/crawl/${interrupted.id}/resume`, {})
    await held.requested()
    held.release()
    expect((await resumed).status).toBe(202)
    await waitUntil(
      async () => (await restarted.request('GET', `/v1/crawl/${interrupted.id}`)).body.status === 'completed',
    )
    const whole = (await restarted.request('GET', `/v1/crawl/${interrupted.id}`)).body
    expect(whole.data.map(({ metadata }: { metadata: { title: string } }) => metadata.title)).toEqual([
      'Slow',
      'Slow one',
      'Held',
    ])
    expect(await stop(restarted)).toBe(0)
  })

  test.skipIf(busybox.absent !== null)(
    `that was running a command keeps only complete artifacts, and reports why its shell sessions ended (${nameOf(busybox)})`,
    async () => {
      const server = await start()
      const make = async (name: string) =>
        (await server.request('POST', '/shell/sessions', { image: busybox.image, name })).body.session_id as string
      const [session_id, closed] = [await make('work'), await make('short')]
      await server.request('DELETE', `/shell/sessions/${closed}`)
      const whole = 'printf %s whole > /output/whole.txt'
      const { artifact_id } = (await server.request('POST', '/shell/exec', { session_id, command: whole })).body
      const half = 'echo half > /output/half.txt; sleep 777'
      const running = await server.request('POST', '/shell/exec', { session_id, command: half, background: true })
      const written = { session_id, path: '/output/half.txt' }
      await waitUntil(async () => (await server.request('POST', '/shell/fs/info', written)).status === 200)
      await kill(server)

      const restarted = await start(server.stateDir)
      const recordOf = async (id: string) => (await restarted.request('GET', `/shell/sessions/${id}`)).body
      expect(await recordOf(session_id)).toMatchObject({
        name: 'work',
        status: 'stopped',
        stop_reason: 'engine_lost',
        running_execs: 0,
      })
      expect(await recordOf(closed)).toMatchObject({ status: 'stopped', stop_reason: 'deleted' })
      expect((await restarted.request('GET', '/shell/sessions')).body).toMatchObject({
        total: 2,
        sessions: [{ session_id: closed }, { session_id }],
      })
      for (const [id, reason] of [
        [session_id, 'engine_lost'],
        [closed, 'deleted'],
      ] as const) {
        const gone = { status: 410, body: { code: 'session_closed', details: { reason } } }
        expect(await restarted.request('POST', '/shell/exec', { session_id: id, command: 'true' })).toMatchObject(gone)
        expect(await restarted.request('POST', '/shell/fs/list', { session_id: id })).toMatchObject(gone)
        expect(await restarted.request('POST', `/shell/sessions/${id}/touch`, {})).toMatchObject(gone)
        expect((await restarted.request('DELETE', `/shell/sessions/${id}`)).status).toBe(204)
      }
      expect((await restarted.request('GET', `/shell/exec/${running.body.exec_id}`)).status).toBe(404)
      const { artifacts } = (await restarted.request('GET', `/shell/artifacts/by-session/${session_id}`)).body
      expect(artifacts).toMatchObject([{ artifact_id, files: [{ path: '/output/whole.txt' }] }])
      expect((await restarted.request('GET', artifacts[0].files[0].url)).body).toBe('whole')
      // Its name is available again; the first container of the new engine removes that of the old one with its processes.
      const next = (await restarted.request('POST', '/shell/sessions', { image: busybox.image, name: 'work' })).body
      const answer = await restarted.request('POST', '/shell/exec', {
        session_id: next.session_id,
        command: 'echo well',
      })
      expect(answer.body).toMatchObject({ exit_code: 0, stdout: 'well\n' })
      const client = await otherClient()
      const left = () => client.listContainers({ all: true, filters: { label: [`bax.session=${session_id}`] } })
      await waitUntil(async () => (await left()).length === 0)
      expect(await stop(restarted)).toBe(0)

      const third = await start(server.stateDir)
      expect((await third.request('GET', `/shell/sessions/${next.session_id}`)).body).toMatchObject({
        stop_reason: 'engine_shutdown',
      })
      expect((await third.request('GET', '/shell/sessions')).body.total).toBe(3)
      expect(await stop(third)).toBe(0)
    },
  )
})

describe('a process killed while writing', () => {
  /**
   * Returns a program that runs `setUp`, then `work` once, and is killed at disk step number `argv[2]`: before a file is
   * opened, flushed, closed or renamed, or after half of the bytes of a write.
   */
  const killedAtStep = (setUp: string, work: string) => `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    ${setUp}
    const handle = await fs.promises.open(process.execPath)
    const handles = Object.getPrototypeOf(handle)
    await handle.close()
    let left = Number(process.argv[2])
    const isLast = () => left-- === 0
    const die = () => process.kill(process.pid, 'SIGKILL')
    const wrap = (object: any, name: string, half?: (self: any, given: any[]) => void) => {
      const real = object[name]
      object[name] = function (...given: any[]) {
        if (isLast()) {
          half?.(this, given)
          die()
        }
        return real.apply(this, given)
      }
    }
    const halfOf = (bytes: any) => Buffer.from(bytes).subarray(0, bytes.length / 2)
    for (const name of ['mkdir', 'open', 'rename', 'rm']) wrap(fs.promises, name)
    wrap(fs.promises, 'writeFile', (_, [path, bytes]) => fs.writeFileSync(path, halfOf(bytes)))
    for (const name of ['sync', 'close']) wrap(handles, name)
    for (const name of ['write', 'writeFile']) wrap(handles, name, ({ fd }, [bytes]) => fs.writeSync(fd, halfOf(bytes)))
    syncBuiltinESMExports()
    ${work}
    process.send!('done', () => process.exit())
  `

  /** Runs the program repeatedly, killed one step later each time, until it completes; calls `inspect` after each run. */
  async function killAtEveryStep(program: HostProgram, inspect: () => Promise<void>): Promise<number> {
    try {
      for (let step = 0; ; step += 1) {
        const isDone = await program.start([String(step)]).then(
          () => true,
          () => false,
        )
        await inspect()
        if (isDone) return step
      }
    } finally {
      await program.close()
    }
  }

  test('never leaves half a profile: it has either the old or the new content', async () => {
    const program = await makeHostProgram(
      killedAtStep(
        `
        import { ProfileStore } from './src/engine/store/profiles.ts'
        import { keylessCaller } from './src/core/access/caller.ts'
        const store = new ProfileStore(stateDir)
        const state = (mark: number) => ({ cookies: [], origins: [{ origin: 'x', localStorage: [{ name: String(mark), value: String(mark % 10).repeat(300_000) }] }] })
        const known = await store.list(keylessCaller)
        const { profile_id } = known[0] ?? (await store.add('ann', state(0), keylessCaller))
        const before = Number((await store.load(profile_id, keylessCaller)).state.origins[0]!.localStorage[0]!.name)
        `,
        'await store.update(profile_id, () => state(before + 1))',
      ),
    )
    const seen: number[] = []
    const steps = await killAtEveryStep(program, async () => {
      const store = new ProfileStore(program.stateDir)
      const [record, ...others] = await store.list(keylessCaller)
      expect(others).toEqual([])
      const { name, value } = (await store.load(record!.profile_id, keylessCaller)).state.origins[0]!.localStorage[0]!
      expect(value).toBe(String(Number(name) % 10).repeat(300_000))
      seen.push(Number(name))
    })
    expect(steps).toBeGreaterThan(3)
    // A run killed before the rename leaves the old profile; only the last one completes.
    expect([seen[0], seen.at(-1)]).toEqual([0, 1])
  })

  test('never shows an artifact without all its bytes', async () => {
    const program = await makeHostProgram(
      killedAtStep(
        `
        import { ArtifactStore } from './src/engine/shell/artifacts/store.ts'
        const store = new ArtifactStore(stateDir)
        const session_id = 'sh_' + 'a'.repeat(20)
        const later = new Date(Date.now() + 3_600_000)
        const number = ((await store.list(session_id, 0, 10_000))?.artifacts.length ?? 0) + 1
        const bytes = Buffer.alloc(400_000, Number(process.argv[2]))
        `,
        `
        await store.noteSession({ id: session_id, owner: null, endsBy: later }, null)
        const { sha256, size } = await store.blobsOf(session_id).add([bytes], 1e9)
        const id = 'art_' + String(number).padStart(20, '0')
        await store.add({ id, session_id, files: [{ path: '/output/' + number, sha256, size }] } as never, number)
        `,
      ),
    )
    const session = `sh_${'a'.repeat(20)}`
    const shown: number[] = []
    const steps = await killAtEveryStep(program, async () => {
      const store = new ArtifactStore(program.stateDir)
      // Artifacts are only shown if their owner is readable.
      await store.ownerOf(session)
      const artifacts = (await store.list(session, 0, 10_000))?.artifacts ?? []
      for (const { files } of artifacts) {
        const { sha256 } = files[0] as unknown as { sha256: string }
        const bytes = await readFile(store.blobsOf(session).path(sha256))
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
      }
      shown.push(artifacts.length)
    })
    expect(steps).toBeGreaterThan(8)
    expect([shown[0], shown.at(-1)]).toEqual([0, 1])
  })
})

const noDisk = await noSmallDisk()
test.skipIf(noDisk !== null)(
  `a full disk returns an error, keeps existing data intact, and recovers when space is freed${noDisk ? `: skipped, ${noDisk}` : ''}`,
  async () => {
    const disk = await mountSmallDisk(8)
    try {
      const server = await start(disk.path)
      const kept = (await server.request('POST', '/profiles', { name: 'kept' })).body
      await disk.fill()
      const profile = await server.request('POST', '/profiles', { name: 'too-much' })
      expect([profile.status, profile.body.code]).toEqual([507, 'no_space'])
      expect(JSON.stringify(profile.body)).not.toContain(disk.path)
      const crawl = await server.request('POST', '/v1/crawl', { url: site.url, render: 'http' })
      expect([crawl.status, crawl.body.code]).toEqual([507, 'no_space'])
      await waitUntil(async () => (await server.request('GET', '/readyz')).status === 503)
      expect((await server.request('GET', '/readyz')).body.details.parts.state).toEqual({
        ok: false,
        message: 'the disk of the state folder is full',
      })
      // Operations that need no disk keep working.
      expect((await server.request('POST', '/v1/scrape', { url: site.url, render: 'http' })).body.success).toBe(true)
      const { session_id } = (await server.request('POST', '/sessions', { start_url: site.url })).body
      expect((await server.request('POST', '/commands', titleOf(session_id))).body.success).toBe(true)
      expect((await server.request('GET', '/profiles')).body).toMatchObject({ total: 1, profiles: [kept] })

      await disk.empty()
      await waitUntil(async () => (await server.request('GET', '/readyz')).status === 200)
      expect((await server.request('POST', '/profiles', { name: 'room' })).status).toBe(200)
      expect((await server.request('POST', '/v1/crawl', { url: site.url, render: 'http' })).body.completed).toBe(3)
      expect(await stop(server)).toBe(0)
    } finally {
      await disk.close()
    }
  },
)
