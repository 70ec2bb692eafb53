/** A fleet in this process: Redis, gateways and workers, composed as `bax serve --fleet` and `bax worker` do. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openGateway } from '../../src/cli/serve/gateway.ts'
import { openWorker } from '../../src/cli/serve/worker.ts'
import { type Client, createClient } from './client.ts'
import { overHttp, type Transport } from '../../src/client/transport.ts'
import { allowancesOf } from '../../src/core/access/quota.ts'
import type { EngineConfig, Log } from '../../src/core/config/config.ts'
import type { Engine } from '../../src/core/engine.ts'
import { workerLabels, type WorkerRecord } from '../../src/core/fleet.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { fingerprintOf } from '../../src/fleet/directory/secret-claim.ts'
import type { ScalingOptions } from '../../src/core/scaling.ts'
import { operations } from '../../src/operations/index.ts'
import { loopbackHosts } from '../../src/server/access/gate.ts'
import type { TlsIdentity } from '../../src/server/access/tls-files.ts'
import { serve, type ServeOptions } from '../../src/server/process/serve.ts'
import { openEndpoint } from '../../src/mcp/http.ts'
import { startRedis, type TestRedis } from './redis.ts'

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))

interface TestGateway {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly engine: Engine
  readonly transport: Transport
  readonly client: Client
  /** Messages in its log. */
  readonly messages: () => readonly string[]
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>
}

interface TestWorker {
  readonly id: string
  readonly url: string
  readonly engine: Engine
  /** Asks it to end, as SIGTERM does; resolves once it has. */
  stop(): Promise<void>
}

export interface WorkerSetup {
  readonly labels?: WorkerRecord['labels']
  readonly sessions?: number
  readonly drainMs?: number
  /** Port to listen on, and the URL at which gateways reach it, if it is behind a proxy. */
  readonly proxied?: { readonly port: number; readonly url: string }
  /** Certificate for HTTPS. */
  readonly tls?: TlsIdentity
  /** Another secret than that of the fleet; see `TestFleet.admit`. */
  readonly secretFile?: string
  readonly config?: Partial<EngineConfig>
}

export interface TestFleet {
  readonly redis: TestRedis
  /** Removed by `close`. */
  readonly folder: string
  readonly secretFile: string
  readonly gateway: TestGateway
  readonly workers: readonly TestWorker[]
  /** Starts another gateway, by default with the secret of the fleet, which trusts public CAs. */
  addGateway(secretFile?: string, caFile?: string): Promise<TestGateway>
  addWorker(setup?: WorkerSetup): Promise<TestWorker>
  /**
   * Writes a file with another secret, and lets processes with it start, as after Redis has lost its data and one of them
   * was the first to return. Returns the file.
   */
  admitOther(): Promise<string>
  /** Ends the lease of a worker at once, as if it had been silent for 15 s. */
  expireLease(workerId: string): Promise<void>
  close(): Promise<void>
}

/** A fixed set of workers. */
const scaling: ScalingOptions = {
  target: { kind: 'none' },
  min: 0,
  max: 0,
  provisionTimeoutMs: limits.provision.timeoutMs,
}

/** Starts workers, and a gateway with this configuration. */
export async function startFleet(
  workers: readonly WorkerSetup[] = [{}, {}],
  gatewayConfig: Partial<EngineConfig> = {},
): Promise<TestFleet> {
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'bax-test-fleet-'))
  const secretFile = join(folder, 'secret')
  await writeFile(secretFile, randomBytes(48).toString('base64'), { mode: 0o600 })
  const access = { url: redis.url, secretFile }
  const running: { stop(): Promise<void> }[] = []

  const configFor = async (log: Log): Promise<EngineConfig> => {
    const stateDir = await mkdtemp(join(folder, 'state-'))
    const cacheDir = join(stateDir, 'cache')
    const allowPrivate = ['127.0.0.1', '::1']
    return { home: 'server', stateDir, cacheDir, display: false, writeAnywhere: false, allowPrivate, log }
  }

  const addGateway = async (ownSecretFile = secretFile, caFile?: string) => {
    const logged = logWatch()
    const allowances = allowancesOf({ rate: 0, burst: 1 })
    const config = { ...(await configFor(logged.log)), ...gatewayConfig }
    const own = { ...access, secretFile: ownSecretFile, caFile }
    const gateway = await openGateway(own, { config, allowances, scaling, io: { env: {}, cwd: folder } })
    const { engine, forwarder, stores } = gateway
    const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
    const server = await start(
      { engine, forwarder, stores, gate, allowances, openMcp: openEndpoint, log: logged.log },
      logged,
    )
    const transport = overHttp(server.url)
    const stop = () => server.stop().then(() => gateway.close())
    running.push({ stop })
    return { ...server, stop, engine, transport, client: createClient(transport, addressed), messages: logged.messages }
  }

  const addWorker = async ({
    labels = workerLabels,
    sessions = 10,
    drainMs = 0,
    proxied,
    tls,
    secretFile: ownSecretFile = secretFile,
    config,
  }: WorkerSetup = {}) => {
    const logged = logWatch()
    const worker = await openWorker(
      { ...access, secretFile: ownSecretFile },
      {
        config: { ...(await configFor(logged.log)), ...config },
        capacity: { labels, slots: { session: sessions, shell: 4, relay: 4 }, pages: 4 },
        advertised: proxied?.url,
        exitsWhenDrained: false,
      },
    )
    const allowances = allowancesOf({ rate: 0, burst: 1 })
    const server = await start(
      { ...worker.served, allowances, log: logged.log, drainMs, port: proxied?.port ?? 0, tls },
      logged,
    )
    const { worker_id: id } = await logged.line('registered')
    const stop = () => server.stop().then(() => worker.close())
    running.push({ stop })
    return { ...server, stop, id: id as string, engine: worker.served.engine }
  }

  const started: TestWorker[] = []
  for (const setup of workers) started.push(await addWorker(setup))
  return {
    redis,
    folder,
    secretFile,
    workers: started,
    addGateway,
    addWorker,
    gateway: await addGateway(),
    admitOther: async () => {
      const file = join(folder, 'other-secret')
      const secret = randomBytes(48).toString('base64')
      await writeFile(file, secret, { mode: 0o600 })
      await redis.client.hset('bax:dir:secret', 'fingerprint', fingerprintOf(Buffer.from(secret)))
      return file
    },
    expireLease: async (workerId) => void (await redis.client.zadd('bax:dir:workers', 1, workerId)),
    close: async () => {
      await Promise.all(running.toReversed().map(({ stop }) => stop()))
      await redis.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Logged {
  readonly log: Log
  /** Resolves with the facts of the first line of that message. */
  line(message: string): Promise<Record<string, unknown>>
  messages(): readonly string[]
}

function logWatch(): Logged {
  const lines: { message: string; facts: Record<string, unknown> }[] = []
  let wake = () => {}
  return {
    log: (_level, message, facts = {}) => {
      lines.push({ message, facts })
      wake()
    },
    messages: () => lines.map(({ message }) => message),
    async line(message) {
      for (;;) {
        const found = lines.find((line) => line.message.startsWith(message))
        if (found) return { ...found.facts, message: found.message }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

/** Serves on a free port until `stop`. */
async function start(
  {
    port = 0,
    tls,
    ...options
  }: Omit<ServeOptions, 'address' | 'drainMs' | 'signal'> & {
    port?: number
    tls?: TlsIdentity | undefined
    drainMs?: number
  },
  logged: Logged,
): Promise<{ url: string; stop(): Promise<void> }> {
  const ended = new AbortController()
  const address = { host: '127.0.0.1', port, ...(tls && { tls }) }
  const served = serve({ drainMs: 0, ...options, address, signal: ended.signal })
  // Reported by `stop`, or by the wait for the address.
  served.catch(() => {})
  const prefix = 'bax is listening on '
  const failed = served.then(() => Promise.reject(new Error('it ended before it was listening')))
  const { message } = await Promise.race([logged.line(prefix), failed])
  failed.catch(() => {})
  return {
    url: (message as string).slice(prefix.length),
    stop: () => {
      ended.abort(new Error('SIGTERM'))
      return served
    },
  }
}
