import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeHostProgram } from '../../support/host-process.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { browserGraves, Grave, type SessionSketch } from '../../../src/engine/browser/session/tombstone.ts'
import { Graves } from '../../../src/engine/store/graves.ts'

let stateDir: string
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-graves-'))
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(stateDir, { recursive: true })
})

const sketch = (session_id: string, ended: { at: number; reason: string } | null = null): SessionSketch => ({
  session_id,
  status: ended ? 'stopped' : 'ready',
  name: `name of ${session_id}`,
  url: 'https://example.com/',
  title: 'Example',
  headless: true,
  user_agent: 'Mozilla/5.0',
  viewport: { width: 1280, height: 720 },
  profile_id: null,
  tabs: ended ? 0 : 1,
  worker_id: 'server-1',
  tags: {},
  created_at: new Date(0).toISOString(),
  last_activity_at: new Date(0).toISOString(),
  expires_at: new Date(0).toISOString(),
  idle_timeout_secs: 300,
  timeout_secs: 3600,
  commands_run: 3,
  controlled_by_person: false,
  ended_at: ended ? new Date(ended.at).toISOString() : null,
  end_reason: ended?.reason ?? null,
})

/** Notes sessions in a process of its own, which then goes without a word. */
async function notedByAnother(...sessions: readonly SessionSketch[]): Promise<void> {
  const program = await makeHostProgram(`
    import { browserGraves } from './src/engine/browser/session/tombstone.ts'
    import { Graves } from './src/engine/store/graves.ts'
    const graves = new Graves(browserGraves, { stateDir: process.argv[2]!, log: () => {} })
    graves.takeOver()
    for (const session of JSON.parse(process.argv[3]!)) graves.note(session, 'key_ann')
    process.send!('noted', () => process.kill(process.pid, 'SIGKILL'))
  `)
  const { process: child } = await program.start([stateDir, JSON.stringify(sessions)])
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve))
  await program.close()
}

const log: string[] = []
const open = () => new Graves(browserGraves, { stateDir, log: (_, message) => void log.push(message) })
const told = (graves: Graves<SessionSketch>) =>
  graves
    .takeOver()
    .map(({ session, owner }) => ({ sessionId: session.session_id, endReason: session.end_reason, owner }))

describe('sessions of an engine that is gone', () => {
  test('are known with their ends; those that had none went down with it', async () => {
    await notedByAnother(sketch('ses_1'), sketch('ses_2'), sketch('ses_2', { at: Date.now(), reason: 'idle_timeout' }))
    const graves = open()
    expect(told(graves)).toEqual([
      { sessionId: 'ses_1', endReason: 'worker_lost', owner: 'key_ann' },
      { sessionId: 'ses_2', endReason: 'idle_timeout', owner: 'key_ann' },
    ])
    expect(told(graves)).toEqual([])
  })

  test('are told of by one engine after another until their time is over', async () => {
    const now = Date.now()
    await notedByAnother(
      sketch('ses_1'),
      sketch('ses_old', { at: now - limits.session.tombstoneMs, reason: 'deleted' }),
    )
    vi.useFakeTimers({ now, toFake: ['Date'] })
    const [past] = open().takeOver()
    const first = new Grave(past!)
    expect(first).toMatchObject({ sessionId: 'ses_1', endedAt: new Date(now) })
    expect(await first.record({ baseUrl: 'http://here', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      tabs: 0,
      sse_url: 'http://here/stream/sse?session_id=ses_1',
    })
    // One file is left: that of the engine which has taken over.
    expect(await readdir(join(stateDir, 'sessions'))).toHaveLength(1)
  })

  test('are told of when the one before had none to tell of at its beginning', async () => {
    await notedByAnother(sketch('ses_old', { at: Date.now() - limits.session.tombstoneMs, reason: 'deleted' }))
    await notedByAnother(sketch('ses_1'))
    expect(told(open())).toMatchObject([{ sessionId: 'ses_1' }])
  })

  test('a clock that jumps ahead forgets them, and does no more harm', async () => {
    await notedByAnother(sketch('ses_1', { at: Date.now(), reason: 'deleted' }))
    vi.useFakeTimers({ now: Date.now() + 365 * 86_400_000, toFake: ['Date'] })
    expect(told(open())).toEqual([])
  })

  test('a line that was cut off is left out, and all before it is there', async () => {
    await notedByAnother(sketch('ses_1'))
    const [journal] = await readdir(join(stateDir, 'sessions'))
    await appendFile(join(stateDir, 'sessions', journal!), '{"owner":null,"session":{"session_id":"ses_')
    expect(told(open())).toMatchObject([{ sessionId: 'ses_1' }])
  })
})

test('the sessions of an engine that lives are its own', () => {
  const graves = open()
  graves.note(sketch('ses_1'), null)
  expect(told(open())).toEqual([])
  // Nor are they told to itself as those of another.
  expect(told(graves)).toEqual([])
})

test('a journal does not grow for ever', async () => {
  const graves = open()
  const at = Date.now() - limits.session.tombstoneMs - 1
  for (let index = 0; index <= limits.session.graveLines + 1; index += 1)
    graves.note(sketch(`ses_${index}`, { at, reason: 'deleted' }), null)
  const journals = await readdir(join(stateDir, 'sessions'))
  expect(journals).toHaveLength(1)
  const lines = (await readFile(join(stateDir, 'sessions', journals[0]!), 'utf8')).trim().split('\n')
  expect(lines.length).toBeLessThan(10)
})

test('a folder that cannot be written costs the memory of a session, never the session', async () => {
  await writeFile(join(stateDir, 'sessions'), 'in the way')
  open().note(sketch('ses_1'), null)
  expect(log).toContain('a session will not be remembered')
})
