/** `bax serve` with a program that starts workers: every process is real. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../../support/cli.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'
import { servedWithinMs } from '../../support/served.ts'
import { waitUntil } from '../../support/wait.ts'

// Responses in which the test reads what it names.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = Record<string, any>

describe.skipIf(noRedis)(titled('--scaler command:PROGRAM', noRedis), () => {
  let redis: TestRedis
  let built: BuiltBax
  let folder: string
  let url: string
  let gateway: ReturnType<BuiltBax['start']>
  beforeAll(async () => {
    redis = await startRedis()
    built = await buildBax()
    folder = await mkdtemp(join(tmpdir(), 'bax-scaled-'))
    await writeFile(join(folder, 'secret'), 'x'.repeat(64), { mode: 0o600 })
    const flags = `--fleet ${redis.url} --secret-file secret --port 0 --sessions 1 --shells 0 --relays 0 --labels browser --name scaled`
    // A simple scaler: it starts what is missing, and leaves ending to the workers.
    await writeFile(
      join(folder, 'scale.sh'),
      `#!/bin/sh
running=0
for pid in $(cat pids 2>/dev/null); do kill -0 "$pid" 2>/dev/null && running=$((running + 1)); done
while [ "$running" -lt "$1" ]; do
  BAX_STATE_DIR=$PWD/state-$running setsid "${process.execPath}" "${built.program}" worker ${flags} </dev/null >/dev/null 2>>log &
  echo $! >> pids
  running=$((running + 1))
done
`,
    )
    await chmod(join(folder, 'scale.sh'), 0o755)
    const scaling = [
      '--scaler',
      'command:./scale.sh',
      '--scale-min',
      '0',
      '--scale-max',
      '2',
      '--provision-timeout',
      '60',
    ]
    const fleet = ['--fleet', redis.url, '--secret-file', 'secret', '--port', '0']
    gateway = built.start(['serve', '--no-keys', ...fleet, ...scaling], {
      cwd: folder,
      env: { BAX_STATE_DIR: await built.stateDir() },
    })
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(await gateway.waitForStderr('bax is listening on http://'))![0]
  }, servedWithinMs)
  afterAll(async () => {
    gateway?.child.kill('SIGTERM')
    for (const pid of await pids()) process.kill(pid, 'SIGKILL')
    await gateway?.ended
    await built?.close()
    await redis.close()
    await rm(folder, { recursive: true, force: true })
  })
  const pids = async () => {
    const text = await readFile(join(folder, 'pids'), 'utf8').catch(() => '')
    const all = text.split('\n').filter(Boolean).map(Number)
    return all.filter((pid) => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    })
  }
  const send = async (method: string, path: string, body?: object): Promise<Json> => {
    const response = await fetch(url + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return response.status === 204 ? {} : ((await response.json()) as Json)
  }
  const ready = async () => {
    const { provision_id } = await send('POST', '/sessions', {})
    let record: Json = {}
    await waitUntil(async () => {
      record = await send('GET', `/sessions/provision/${provision_id}`)
      return record['status'] !== 'provisioning'
    })
    return record
  }

  test('starts workers for waiting sessions, which report every stage, and drained ones exit', async () => {
    const first = await ready()
    expect(first).toMatchObject({ status: 'ready', error: null })
    expect(first['stages'].map(({ stage }: { stage: string }) => stage)).toEqual([
      'provisioning',
      'scaling',
      'worker_found',
      'creating',
      'ready',
    ])
    await waitUntil(async () => (await pids()).length === 2)
    // The program has started them before it ends, and before the gateway records it.
    await waitUntil(async () => (await send('GET', '/fleet'))['scaler'].workers === 2)
    const state = await send('GET', '/fleet')
    expect(state['scaler']).toMatchObject({ scaler: 'program ./scale.sh', workers: 2, message: null })
    await waitUntil(async () => (await send('GET', '/fleet'))['workers'].length === 2)
    const { workers } = await send('GET', '/fleet')
    const busy = workers.find((worker: { sessions: { used: number } }) => worker.sessions.used === 1)
    expect(busy).toMatchObject({ name: 'scaled' })
    await send('POST', `/fleet/workers/${busy.worker_id}/drain`)
    // A drained worker keeps its session, and exits as soon as it has ended.
    await waitUntil(async () =>
      (await send('GET', '/fleet'))['workers'].some(({ state: its }: { state: string }) => its === 'draining'),
    )
    expect(await send('GET', `/sessions/${first['session_id']}`)).toMatchObject({ status: 'ready' })
    await send('DELETE', `/sessions/${first['session_id']}`)
    await waitUntil(async () =>
      (await send('GET', '/fleet'))['workers'].every(
        ({ worker_id }: { worker_id: string }) => worker_id !== busy.worker_id,
      ),
    )
  })
})
