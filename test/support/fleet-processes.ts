/** A fleet of real processes: Redis, `bax serve --fleet` and `bax worker`, which tests kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { type Client, createClient } from './client.ts'
import { overHttp, type Transport } from '../../src/client/transport.ts'
import type { CrawlState } from '../../src/core/shapes/crawl.ts'
import type { FleetWorker } from '../../src/core/shapes/fleet/status.ts'
import { runningKey } from '../../src/fleet/crawl/keys.ts'
import { JobQueues } from '../../src/fleet/queues.ts'
import { operations } from '../../src/operations/index.ts'
import { recordCommandLine } from './calls.ts'
import { buildBax } from './cli.ts'
import { noConfig } from './no-config.ts'
import { descendants, isRunning, markedProcesses } from './processes.ts'
import { startRedis, type TestRedis } from './redis.ts'
import { tied } from './tied.ts'
import { waitFor, waitUntil } from './wait.ts'

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))

interface FleetProcess {
  readonly process: ChildProcess
  readonly url: string
  /** Returns what it has written to standard error. */
  log(): string
  /** Ends it as a crash does, and resolves once nothing that it had started is running any more. */
  kill(): Promise<void>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface GatewayProcess extends FleetProcess {
  readonly client: Client
  readonly transport: Transport
}

export interface WorkerProcess extends FleetProcess {
  /** ID of its first registration. */
  readonly id: string
}

interface ProcessOptions {
  /** Another build of the same program. */
  readonly build?: string
  readonly flags?: readonly string[]
  /** URL of Redis, if it is not reached directly. */
  readonly redisUrl?: string
  /** Program and arguments in front, such as those that enter a network namespace. */
  readonly inside?: readonly string[]
}

export interface ProcessFleet {
  readonly redis: TestRedis
  addGateway(options?: ProcessOptions): Promise<GatewayProcess>
  addWorker(options?: ProcessOptions): Promise<WorkerProcess>
  /** Checks that no crawl runs, and that the queues of all builds get empty. */
  expectQueuesEmpty(): Promise<void>
  close(): Promise<void>
}

export async function startProcessFleet(redisSettings: Readonly<Record<string, string>> = {}): Promise<ProcessFleet> {
  const [redis, built, folder] = await Promise.all([
    startRedis(redisSettings),
    buildBax(),
    mkdtemp(join(tmpdir(), 'bax-test-processes-')),
  ])
  const secret = join(folder, 'secret')
  await writeFile(secret, randomBytes(48).toString('base64'), { mode: 0o600 })
  const running = new Set<FleetProcess>()
  const programs = new Map<string, Promise<string>>()
  let started = 0

  /** Returns the program with another build ID. */
  const programOf = (build: string | undefined): Promise<string> | string => {
    if (build === undefined) return built.program
    const known = programs.get(build)
    if (known) return known
    const dist = join(dirname(dirname(built.program)), `dist-${build}`)
    const copying = cp(dirname(built.program), dist, { recursive: true, preserveTimestamps: true })
      .then(() => writeFile(join(dist, 'build-id'), build))
      .then(() => join(dist, 'main.js'))
    programs.set(build, copying)
    return copying
  }

  const start = async (command: string, { build, flags = [], redisUrl, inside = [] }: ProcessOptions) => {
    const marker = `${folder}/${++started}-state`
    const common = ['--fleet', redisUrl ?? redis.url, '--secret-file', secret, '--port', '0']
    const argv = [...inside, process.execPath, await programOf(build), command, ...common, ...flags]
    const child = spawn(...tied(argv[0]!, argv.slice(1)), {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        DOCKER_HOST: process.env['DOCKER_HOST'],
        XDG_RUNTIME_DIR: process.env['XDG_RUNTIME_DIR'],
        BAX_CONFIG: noConfig,
        BAX_STATE_DIR: marker,
        BAX_CRAWL_PAGES: '10000',
      },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    child.stderr.on('data', (chunk: Buffer) => (log += String(chunk)))
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    const line = (pattern: RegExp) =>
      waitFor(`${command} to write ${pattern}`, () => {
        if (hasEnded()) throw new Error(`${command} has ended: ${log}`)
        return pattern.exec(log)?.[1]
      })
    const end = async (signal: NodeJS.Signals) => {
      running.delete(self)
      if (hasEnded()) return
      child.kill(signal)
      await once(child, 'exit')
    }
    const self: FleetProcess & { line: typeof line } = {
      process: child,
      url: '',
      line,
      log: () => log,
      kill: async () => {
        const own = new Set([...(await descendants(child.pid!)), ...(await markedProcesses(marker))])
        await end('SIGKILL')
        await waitUntil(async () => (await Promise.all([...own].map(isRunning))).every((is) => !is))
        // In case that it started something meanwhile.
        await waitUntil(async () => (await markedProcesses(marker)).length === 0)
      },
      stop: async () => {
        await end('SIGTERM')
        if (child.exitCode === 0) await recordCommandLine([command])
        return child.exitCode
      },
    }
    running.add(self)
    return Object.assign(self, { url: await line(/bax is listening on (http:\/\/[^\s"]+)/) })
  }

  return {
    redis,
    addGateway: async ({ flags = [], ...options } = {}) => {
      const gateway = await start('serve', { ...options, flags: ['--rate', '0', '--no-keys', ...allowed, ...flags] })
      const transport = overHttp(gateway.url)
      return Object.assign(gateway, { transport, client: createClient(transport, addressed) })
    },
    addWorker: async ({ flags = [], ...options } = {}) => {
      const slots = ['--sessions', '2', '--shells', '0', '--relays', '0', '--pages', '4']
      const worker = await start('worker', { ...options, flags: [...slots, ...allowed, ...flags] })
      return Object.assign(worker, { id: await worker.line(/"worker_id":"(wrk_[^"]+)"/) })
    },
    expectQueuesEmpty: async () => {
      const queues = new JobQueues(redis.client)
      const counts = async () => (await queues.all()).map(({ oldest_secs: _secs, ...counts }) => counts)
      const empty = ['crawls', 'pages'].map((queue) => ({ queue, waiting: 0, active: 0, delayed: 0, failed: 0 }))
      // Workers complete their jobs after the results are stored; those of killed ones are taken when their lock expires.
      await waitUntil(async () => JSON.stringify(await counts()) === JSON.stringify(empty)).catch(() => {})
      expect(await counts()).toEqual(empty)
      expect(await redis.client.smembers(runningKey)).toEqual([])
    },
    close: async () => {
      await Promise.all([...running].map((one) => one.kill()))
      await redis.close()
      await built.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Test sites are on this machine. */
const allowed = ['--allow-private', '127.0.0.1']

/** Waits for the end of a crawl; returns it with all its pages. */
export async function endedCrawl({ client }: GatewayProcess, id: string): Promise<CrawlState> {
  const read = (skip: number, limit = 500) => client.getCrawl({ id, skip, limit }) as Promise<CrawlState>
  // Fails when no further page comes, however long all of them take on a busy machine.
  for (let { status, completed } = await read(0, 0); status === 'scraping';) {
    const before = completed
    await waitUntil(async () => {
      ;({ status, completed } = await read(0, 0))
      return status !== 'scraping' || completed > before
    })
  }
  const first = await read(0)
  const data = [...first.data]
  while (data.length < first.completed) data.push(...(await read(data.length)).data)
  return { ...first, ...(await client.getCrawlErrors({ id })), data }
}

/** Returns the registrations of a fleet, as a gateway reports them. */
export const workersOf = async ({ client }: GatewayProcess): Promise<readonly FleetWorker[]> =>
  (await client.getFleet({})).workers
