/** One engine in the three locations in which users have it: in process, over a unix socket, over HTTP. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from './client.ts'
import { embedded, overHttp, overSocket, type Transport } from '../../src/client/transport.ts'
import type { EngineConfig } from '../../src/core/config/config.ts'
import type { Engine } from '../../src/core/engine.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { createEngine } from '../../src/engine/index.ts'
import { operations } from '../../src/operations/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'
import { listen } from '../../src/server/process/listen.ts'
import { withOpenapiCheck } from './openapi-check.ts'

/** Whether the tests run against a gateway with two workers. */
export const isFleet = Boolean(process.env['BAX_TEST_FLEET'])

export type HomeName = 'embedded' | 'unix' | 'http'
/** A gateway is reached over HTTP only. */
export const homeNames: readonly HomeName[] = isFleet ? ['http'] : ['embedded', 'unix', 'http']

/**
 * Locations for tests of behavior that is the same in each: one, to save time. `BAX_TEST_HOMES=all` selects all three,
 * for example before a release.
 */
export const usualHomes: readonly HomeName[] = process.env['BAX_TEST_HOMES'] === 'all' ? homeNames : ['http']

export interface Homes {
  readonly engine: Engine
  readonly stateDir: string
  readonly clients: Record<HomeName, Client>
  readonly transports: Record<HomeName, Transport>
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string
  close(): Promise<void>
}

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))

/** Opens an engine; in the project `fleet` of the tests a gateway with two workers. */
export async function openHomes(config: Partial<EngineConfig> = {}): Promise<Homes> {
  if (isFleet) return (await import('./fleet-homes.ts')).openFleetHomes(config)
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-test-'))
  const engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: join(stateDir, 'cache'),
    display: false,
    writeAnywhere: true,
    // Test sites listen here.
    allowPrivate: ['127.0.0.1', '::1'],
    log: () => {},
    ...config,
  })
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
  const inside = withOpenapiCheck(createApp({ engine, gate: privateGate }))
  const onError = ({ code, message, cause }: BaxError) =>
    config.log?.('error', message, { code, cause: cause instanceof Error ? cause.stack : String(cause) })
  const outside = withOpenapiCheck(createApp({ engine, gate, sockets: 'here', onError }))
  const socket = join(stateDir, 'test.sock')
  const [unix, tcp] = await Promise.all([
    listen(inside, { socket }, { engine, gate: privateGate, own: true }),
    listen(outside, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false }),
  ])
  const transports = {
    embedded: embedded((request) => inside.fetch(request)),
    unix: overSocket(socket),
    http: overHttp(tcp.address),
  }
  return {
    engine,
    stateDir,
    transports,
    clients: {
      embedded: createClient(transports.embedded, addressed),
      unix: createClient(transports.unix, addressed),
      http: createClient(transports.http, addressed),
    },
    baseUrl: tcp.address,
    async close() {
      await engine.close()
      await Promise.all([unix.close(), tcp.close()])
      await rm(stateDir, { recursive: true, force: true })
      inside.check()
      outside.check()
    },
  }
}
