/** Redis and two workers as processes, so that `bax serve` runs as their gateway (the project `fleet` of the tests). */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuiltBax, CliOptions, Running } from './cli.ts'
import { startRedis } from './redis.ts'

export interface ServedFleet {
  /** Flags of the gateway. */
  readonly flags: readonly string[]
  /** Ends the workers and Redis. */
  close(): Promise<void>
}

/** Flags of all servers in these tests, whose sites are on this machine. */
export const servedFlags = ['--port', '0', '--allow-private', '127.0.0.1']

/** Starts the workers, with the keys of a state folder; undefined where the tests run against a single server. */
export async function openServedFleet(
  built: BuiltBax,
  stateDir: string,
  env: CliOptions['env'] = {},
): Promise<ServedFleet | undefined> {
  if (!process.env['BAX_TEST_FLEET']) return undefined
  const redis = await startRedis()
  const secret = join(stateDir, 'fleet-secret')
  await writeFile(secret, randomBytes(48).toString('base64'), { mode: 0o600 })
  await built.run(['fleet', 'import', '--fleet', redis.url], { env: { ...env, BAX_STATE_DIR: stateDir } })
  const flags = ['--fleet', redis.url, '--secret-file', secret]
  const startWorker = async (): Promise<Running> => {
    const own = { ...env, BAX_STATE_DIR: await built.stateDir() }
    // As a single server, it does not wait for the sessions that a test leaves open.
    const worker = built.start(['worker', ...flags, ...servedFlags, '--drain-secs', '0'], { env: own })
    await worker.waitForStderr('bax is listening on http://')
    return worker
  }
  const workers = await Promise.all([startWorker(), startWorker()])
  return {
    // Some tests start without a key.
    flags: [...flags, '--no-keys'],
    async close() {
      for (const { child } of workers) child.kill('SIGTERM')
      await Promise.all(workers.map(({ ended }) => ended))
      await redis.close()
    },
  }
}
