import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeHostProgram } from '../../support/host-process.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import type { SessionSketch } from '../../../src/engine/browser/links/session-urls.ts'
import { browserTombstones, Tombstone } from '../../../src/engine/browser/session/tombstone.ts'
import { TombstoneStore } from '../../../src/engine/store/tombstones.ts'

let stateDir: string
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-tombstones-'))
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

/** Records sessions in another process, which is then killed. */
async function recordedByAnother(...sessions: readonly SessionSketch[]): Promise<void> {
  const program = await makeHostProgram(`
    import { browserTombstones } from './src/engine/browser/session/tombstone.ts'
    import { TombstoneStore } from './src/engine/store/tombstones.ts'
    const tombstones = new TombstoneStore(browserTombstones, { stateDir: process.argv[2]!, log: () => {} })
    tombstones.takeOver()
    for (const session of JSON.parse(process.argv[3]!)) tombstones.note(session, 'key_ann')
    process.send!('noted', () => process.kill(process.pid, 'SIGKILL'))
  `)
  const { process: child } = await program.start([stateDir, JSON.stringify(sessions)])
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve))
  await program.close()
}

const log: string[] = []
const open = () => new TombstoneStore(browserTombstones, { stateDir, log: (_, message) => void log.push(message) })
const takenOver = (tombstones: TombstoneStore<SessionSketch>) =>
  tombstones
    .takeOver()
    .map(({ session, owner }) => ({ sessionId: session.session_id, endReason: session.end_reason, owner }))

describe('sessions of an engine that has ended', () => {
  test('are known with their ends; open ones count as lost', async () => {
    await recordedByAnother(
      sketch('ses_1'),
      sketch('ses_2'),
      sketch('ses_2', { at: Date.now(), reason: 'idle_timeout' }),
    )
    const tombstones = open()
    expect(takenOver(tombstones)).toEqual([
      { sessionId: 'ses_1', endReason: 'worker_lost', owner: 'key_ann' },
      { sessionId: 'ses_2', endReason: 'idle_timeout', owner: 'key_ann' },
    ])
    expect(takenOver(tombstones)).toEqual([])
  })

  test('are passed from engine to engine until they expire', async () => {
    const now = Date.now()
    await recordedByAnother(
      sketch('ses_1'),
      sketch('ses_old', { at: now - limits.session.tombstoneMs, reason: 'deleted' }),
    )
    vi.useFakeTimers({ now, toFake: ['Date'] })
    const [past] = open().takeOver()
    const first = new Tombstone(past!)
    expect(first).toMatchObject({ sessionId: 'ses_1', endedAt: new Date(now) })
    expect(await first.record({ baseUrl: 'http://here', socketBaseUrl: null })).toMatchObject({
      status: 'failed',
      tabs: 0,
      sse_url: 'http://here/stream/sse?session_id=ses_1',
    })
    // Only the journal of the engine that took over is left.
    expect(await readdir(join(stateDir, 'sessions'))).toHaveLength(1)
  })

  test('are known when the previous engine had none to take over', async () => {
    await recordedByAnother(sketch('ses_old', { at: Date.now() - limits.session.tombstoneMs, reason: 'deleted' }))
    await recordedByAnother(sketch('ses_1'))
    expect(takenOver(open())).toMatchObject([{ sessionId: 'ses_1' }])
  })

  test('expire when the clock jumps ahead', async () => {
    await recordedByAnother(sketch('ses_1', { at: Date.now(), reason: 'deleted' }))
    vi.useFakeTimers({ now: Date.now() + 365 * 86_400_000, toFake: ['Date'] })
    expect(takenOver(open())).toEqual([])
  })

  test('are read up to a truncated line', async () => {
    await recordedByAnother(sketch('ses_1'))
    const [journal] = await readdir(join(stateDir, 'sessions'))
    await appendFile(join(stateDir, 'sessions', journal!), '{"owner":null,"session":{"session_id":"ses_')
    expect(takenOver(open())).toMatchObject([{ sessionId: 'ses_1' }])
  })
})

test('does not take over the sessions of a running engine', () => {
  const tombstones = open()
  tombstones.note(sketch('ses_1'), null)
  expect(takenOver(open())).toEqual([])
  // Nor does the engine take over its own.
  expect(takenOver(tombstones)).toEqual([])
})

test('limits the size of a journal', async () => {
  const tombstones = open()
  const at = Date.now() - limits.session.tombstoneMs - 1
  for (let index = 0; index <= limits.session.tombstoneLines + 1; index += 1)
    tombstones.note(sketch(`ses_${index}`, { at, reason: 'deleted' }), null)
  const journals = await readdir(join(stateDir, 'sessions'))
  expect(journals).toHaveLength(1)
  const lines = (await readFile(join(stateDir, 'sessions', journals[0]!), 'utf8')).trim().split('\n')
  expect(lines.length).toBeLessThan(10)
})

test('logs a warning when the folder cannot be written', async () => {
  await writeFile(join(stateDir, 'sessions'), 'in the way')
  open().note(sketch('ses_1'), null)
  expect(log).toContain('could not store the record of a session')
})
