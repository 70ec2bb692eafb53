/** A real `bax serve` with a key, for clients in other processes; in the project `fleet` of the tests, a gateway. */
import { type BuiltBax, buildBax, type CliResult } from './cli.ts'
import { openServedFleet, servedFlags } from './served-fleet.ts'

/** Timeout for building bax and starting it twice on a busy machine. */
export const servedWithinMs = 240_000

export interface Served {
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** A key with all scopes. */
  readonly key: string
  readonly built: BuiltBax
  /** Runs one command against it. */
  bax(...argv: string[]): Promise<CliResult>
  /** Sends a request with the key. */
  request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Record<string, unknown>>
  close(): Promise<void>
}

/** Starts a server; by default without a rate limit. */
export async function serveBax(env: Record<string, string> = {}, rate = ['--rate', '0']): Promise<Served> {
  const built = await buildBax()
  const stateDir = await built.stateDir()
  const own = { ...env, BAX_STATE_DIR: stateDir }
  const made = await built.run(['key', 'create', 'clients', '--scopes', 'admin', '--embedded'], { env: own })
  const key = made.stdout.trim()
  const fleet = await openServedFleet(built, stateDir, env)
  const running = built.start(['serve', ...servedFlags, ...rate, ...(fleet?.flags ?? [])], { env: own })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await running.waitForStderr('bax is listening on http://'))![0]
  return {
    url,
    key,
    built,
    bax: (...argv) => built.run(argv, { env: { ...own, BAX_SERVER: url, BAX_API_KEY: key } }),
    async request(method, path, body, signal) {
      const response = await fetch(url + path, {
        method,
        headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      return (response.status === 204 ? {} : await response.json()) as Record<string, unknown>
    },
    async close() {
      running.child.kill('SIGTERM')
      await running.ended
      await fleet?.close()
      await built.close()
    },
  }
}
