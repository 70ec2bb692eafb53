/** A real Redis with append-only persistence, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { missingPrograms } from './needs.ts'
import { freePort } from './ports.ts'
import { tied } from './tied.ts'
import { waitUntil } from './wait.ts'

/** The reason why tests that need Redis are skipped; null if it is installed. */
export const noRedis: string | null = missingPrograms('redis-server')

export interface TestRedis {
  readonly url: string
  /** A connection for the test itself. */
  readonly client: Redis
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port with the persisted data. */
  start(): Promise<void>
  close(): Promise<void>
}

/** Starts Redis; `settings` are lines of its configuration, such as `{ maxmemory: '10mb' }`. */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<TestRedis> {
  const [folder, port] = await Promise.all([mkdtemp(join(tmpdir(), 'bax-test-redis-')), freePort()])
  const config = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
    ...settings,
  }
  const flags = Object.entries(config).flatMap(([name, value]) => [`--${name}`, value])
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
  // Expected whenever a test ends the server.
  client.on('error', () => {})
  let child: ChildProcess
  const start = async () => {
    child = spawn(...tied('redis-server', flags), { stdio: 'ignore' })
    await waitUntil(() => client.status === 'ready')
    // Another program may have taken the port before.
    const [, used] = (await client.config('GET', 'dir')) as [string, string]
    if (used !== folder) throw new Error(`another Redis listens on port ${port}`)
  }
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
    await waitUntil(() => client.status !== 'ready')
  }
  await start()
  return {
    url,
    client,
    kill,
    start,
    close: async () => {
      await kill()
      client.disconnect()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
