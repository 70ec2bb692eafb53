import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/core/engine.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { openDirectory } from '../../../src/fleet/directory/directory.ts'
import { buildsKey, pagesQueue, queuePrefix } from '../../../src/fleet/crawl/keys.ts'
import { JobQueues } from '../../../src/fleet/queues.ts'
import { fleetOf } from '../../../src/fleet/status.ts'
import { loopbackHosts } from '../../../src/server/access/gate.ts'
import { createApp } from '../../../src/server/app.ts'
import { type Listener, listen } from '../../../src/server/process/listen.ts'
import { openMeter } from '../../../src/server/process/metrics.ts'
import { bax } from '../../support/cli.ts'
import { type DirectoryBench, openBench, testBuild } from '../../support/fleet-directory.ts'
import { titled } from '../../support/needs.ts'
import { noRedis, startRedis, type TestRedis } from '../../support/redis.ts'

/** Number of times that workers were asked whether they respond; these are only registered. */
let asked = 0
const whyUnreachable = async () => {
  asked += 1
  return null
}

let stateDir: string
let engine: Engine
// A key that one test creates would be required by the others.
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-test-'))
  engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: stateDir,
    display: false,
    writeAnywhere: true,
    log: () => {},
  })
})
afterEach(async () => {
  await engine.close()
  await rm(stateDir, { recursive: true, force: true })
})

const listenWith = (served: Engine): Promise<Listener> => {
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: served.keys }
  return listen(
    createApp({ engine: served, gate, sockets: 'here' }),
    { host: '127.0.0.1', port: 0 },
    { engine: served, gate, own: false },
  )
}

test('a server without a fleet says so', async () => {
  const server = await listenWith(engine)
  const status = await bax(['fleet', 'status', '--server', server.address])
  expect(status).toMatchObject({ code: 4, stdout: '' })
  expect(status.stderr).toBe('error: this server has no fleet\nhint: start it with "bax serve --fleet redis://…"\n')
  expect((await bax(['fleet', 'drain', 'wrk_1', '--server', server.address])).code).toBe(4)
  for (const command of [['status'], ['drain', 'wrk_1']]) {
    const wrong = await bax(['fleet', ...command, '--fleet', 'redis://127.0.0.1:1'])
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toBe(
      'error: unknown flag --fleet\nhint: pass --server URL with the URL of a gateway ("bax serve --fleet")\n',
    )
  }
  const meter = await openMeter(engine, () => 0)
  expect(await meter.text()).not.toContain('bax_fleet')
  await server.close()
})

describe.skipIf(noRedis)(titled('a gateway', noRedis), () => {
  let redis: TestRedis
  let bench: DirectoryBench
  let server: Listener
  let gateway: Engine
  beforeAll(async () => {
    redis = await startRedis({ appendonly: 'no' })
  })
  afterAll(() => redis.close())
  beforeEach(async () => {
    await redis.client.flushall()
    bench = openBench(redis.url)
    const queues = new JobQueues(bench.redis)
    gateway = { ...engine, fleet: fleetOf({ directory: bench.directory, queues: () => queues.all(), whyUnreachable }) }
    server = await listenWith(gateway)
  })
  afterEach(async () => {
    await server.close()
    await bench.close()
  })
  const fleet = (...argv: string[]) => bax(['fleet', ...argv, '--server', server.address])

  test('reports workers, queues and the scaler', async () => {
    const worker = await bench.startWorker({ slots: { session: 8, shell: 2 }, pages: 4, labels: ['browser', 'shell'] })
    await worker.bind({ id: 'ses_1', kind: 'session', owner: null, name: null })
    const connection = bench.connect()
    // Two builds, as during an upgrade.
    const [old, young] = ['a', 'b'].map((build) => new Queue(pagesQueue(build), { connection, prefix: queuePrefix }))
    await connection.sadd(buildsKey, 'a', 'b')
    await old!.add('page', {}, { timestamp: Date.now() - 3_600_000 })
    await young!.add('page', {})
    await young!.add('page', {}, { delay: 60_000 })
    const { stdout } = await fleet('status', '--json')
    const status = JSON.parse(stdout)
    expect(status).toEqual({
      workers: [
        expect.objectContaining({
          worker_id: worker.id,
          name: null,
          state: 'ready',
          unreachable: null,
          labels: ['browser', 'shell'],
          problem: null,
          sessions: { used: 1, total: 8 },
          shells: { used: 0, total: 2 },
          relays: { used: 0, total: 0 },
          pages: { used: 0, total: 4 },
          memory_bytes: 0,
          ...testBuild,
        }),
      ],
      queues: [
        { queue: 'crawls', waiting: 0, active: 0, delayed: 0, failed: 0, oldest_secs: null },
        { queue: 'pages', waiting: 2, active: 0, delayed: 1, failed: 0, oldest_secs: expect.closeTo(3600, -2) },
      ],
      provisions: [],
      scaler: { scaler: 'none', workers: null, needed: 1, message: null },
      gateway: { ...testBuild, skew_ms: expect.any(Number) },
      data_lost_at: null,
    })
    const text = (await fleet('status')).stdout
    expect(text.split('\n').map((line) => line.split(/ {2,}/).slice(0, 7))).toEqual([
      ['WORKER_ID', 'NAME', 'URL', 'STATE', 'LABELS', 'PROBLEM', 'SESSIONS'],
      [worker.id, '-', expect.stringMatching(/^http:/), 'ready', 'browser, shell', '-', '1/8'],
      [''],
      ['QUEUE', 'WAITING', 'ACTIVE', 'DELAYED', 'FAILED', 'OLDEST_SECS'],
      ['crawls', '0', '0', '0', '0', '-'],
      ['pages', '2', '0', '1', '0', expect.stringMatching(/^36\d\d/)],
      [''],
      ['SCALER', 'WORKERS', 'NEEDED', 'MESSAGE'],
      ['none', '-', '1', '-'],
      [''],
    ])
  })

  test('drains a worker, once it is named correctly', async () => {
    const worker = await bench.startWorker({ slots: { session: 1 } })
    expect(await fleet('drain', worker.id)).toMatchObject({ code: 0, stdout: '' })
    expect(JSON.parse((await fleet('status', '--json')).stdout).workers[0].state).toBe('draining')
    const wrong = await fleet('drain', 'wrk_none')
    expect(wrong).toMatchObject({ code: 5, stdout: '' })
    expect(wrong.stderr).toContain('error: no worker has the id "wrk_none"\nhint: list them with "bax fleet status"')
  })

  test('warns about workers of another build and about clocks that differ', async () => {
    const worker = await bench.startWorker({ build: 'b'.repeat(40), version: '2.0.0' })
    await redis.client.hset(`bax:dir:worker:${worker.id}`, 'skew', 60_000)
    const { stderr } = await fleet('status')
    expect(stderr).toContain(
      'warning: this gateway is bax 1.0.0 (build aaaaaaaaaaaa), the workers are bax 2.0.0 (build bbbbbbbbbbbb)',
    )
    expect(stderr).toMatch(/the clock of wrk_\S+ differs by (?:60\d|599)\d+ ms/)
  })

  test('needs a key with the scope admin', async () => {
    const { key } = await engine.keys.create({ name: 'limited', scopes: ['browser'] })
    for (const [method, path] of [
      ['GET', '/fleet'],
      ['POST', '/fleet/workers/wrk_1/drain'],
    ] as const) {
      const response = await fetch(server.address + path, { method, headers: { 'x-api-key': key } })
      expect(response.status).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'forbidden_scope' })
    }
  })

  test('exports metrics of workers and queues, and that Redis is away', async () => {
    const worker = await bench.startWorker({ slots: { session: 8 } })
    await worker.bind({ id: 'ses_1', kind: 'session', owner: null, name: null })
    const before = asked
    const queue = new Queue(pagesQueue('a'), { connection: bench.redis, prefix: queuePrefix })
    await bench.redis.sadd(buildsKey, 'a')
    await queue.add('page', {}, { delay: 60_000 })
    await bench.redis.zadd(queue.toKey('failed'), 1, 'page')
    await queue.close()
    const queues = new JobQueues(bench.redis)
    const parts = { directory: bench.directory, queues: () => queues.all(), whyUnreachable }
    const provisions = (['creating', 'provisioning', 'provisioning'] as const).map((stage, at) => ({
      provision_id: `prv_${at}`,
      stage,
      age_secs: 1,
    }))
    const scaler = { scaler: 'command', workers: 2, message: 'the program exited with 1' }
    const measured = {
      ...engine,
      fleet: fleetOf({ ...parts, provisions: async () => provisions, scaler: () => scaler }),
    }
    const text = await (await openMeter(measured, () => 0)).text()
    // A scrape of the metrics costs the workers nothing.
    expect(asked).toBe(before)
    for (const line of [
      'bax_fleet_up 1',
      'bax_fleet_workers{state="ready"} 1',
      'bax_fleet_workers{state="draining"} 0',
      'bax_fleet_slots{kind="session"} 8',
      'bax_fleet_slots_used{kind="session"} 1',
      'bax_fleet_queue_waiting{queue="pages"} 0',
      'bax_fleet_queue_delayed{queue="pages"} 1',
      'bax_fleet_queue_failed{queue="pages"} 1',
      'bax_fleet_provisions{stage="provisioning"} 2',
      'bax_fleet_provisions{stage="scaling"} 0',
      'bax_fleet_provisions{stage="creating"} 1',
      'bax_fleet_scaler_failing 1',
      'bax_fleet_workers_needed 1',
    ])
      expect(text.split('\n')).toContain(line)
    const hasty = openDirectory({ redis: bench.redis, reapMs: 0, answerMs: 50, ...testBuild })
    const cut = { ...engine, fleet: fleetOf({ directory: hasty, queues: async () => [], whyUnreachable }) }
    await redis.kill()
    const away = await (await openMeter(cut, () => 0)).text()
    await redis.start()
    expect(away.split('\n')).toContain('bax_fleet_up 0')
    expect(away).not.toMatch(/^bax_fleet_(?:workers(?:\{|_needed )|provisions\{|scaler_failing )/m)
    expect(away).toContain('bax_sessions 0')
  })
})
