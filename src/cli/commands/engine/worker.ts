/** `bax worker`: serves an engine to the gateways of a fleet until a signal. */
import { resolve } from 'node:path'
import { allowancesOf } from '../../../core/access/quota.ts'
import { type SlotKind, slotKinds, type WorkerLabel, workerLabels } from '../../../core/fleet.ts'
import type { PoolConfig } from '../../../core/config/config.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { openStateDir } from '../../../core/state/state-dir.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { serviceExit } from '../../output/errors.ts'
import { addParam } from '../../../lines/flags.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { readParams, type ValuesOf } from '../../../lines/typed.ts'
import { advertisedUrl, assertPrivate } from '../../serve/advertised.ts'
import { fleetAccess } from '../../serve/fleet.ts'
import { bareHost, openServerLog, portNumber, readShared } from '../../serve/read-params.ts'
import { workerParams } from '../../serve/worker-params.ts'

export const command: TerminalCommand = {
  cli: 'worker',
  summary: 'Serve an engine to the gateways of a fleet',
  example: [
    'bax worker --fleet redis://10.0.0.5:6379 --secret-file fleet.secret --host 10.0.0.7',
    'bax worker --fleet redis://127.0.0.1:6379 --secret-file fleet.secret --port 0 --labels browser,render',
    'bax worker --fleet redis://10.0.0.5:6379 --secret-file fleet.secret --host 10.0.0.7 --tls-cert w.pem --tls-key w.key',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const param of Object.values(workerParams)) addParam(command, param)
    })
    const { io, settings } = context
    const flags = readParams(workerParams, typed.flags, io.cwd)
    const access = fleetAccess({ url: flags.fleet, secretFile: flags.secretFile }, io)
    if (!access) {
      throw new BaxError('invalid_request', 'a worker needs a fleet', {
        hint: 'pass --fleet redis://HOST:PORT, or set BAX_FLEET; without a fleet, run "bax serve"',
      })
    }
    const tls = await readTls(flags.tlsCert, flags.tlsKey, io.cwd)
    const port = portNumber(flags.port, '--port')
    const address = { host: bareHost(flags.host), port, ...(tls && { tls }) }
    const { advertise } = flags
    const advertised = advertise === undefined ? undefined : advertisedUrl(advertise, tls !== undefined)
    if (advertised === undefined) await assertPrivate(address.host)
    const capacity = readCapacity(flags)
    const name = await checkedName(flags.name)
    const { metrics, drainMs, ...shared } = readShared(flags, io)
    await openStateDir(settings.stateDir)
    const log = await openServerLog(flags, io)
    const { openWorker } = await import('../../serve/worker.ts')
    const config = {
      ...engineConfig(settings, io),
      ...shared,
      pool: poolFor(capacity.slots.session, settings.pool),
      writeAnywhere: false,
      home: 'server' as const,
      log,
    }
    const worker = await openWorker(access, {
      config,
      capacity,
      name,
      advertised,
      exitsWhenDrained: flags.whenDrained === 'exit',
    })
    const { serve } = await import('../../../server/process/serve.ts')
    const { signal, host } = io
    try {
      await serve({
        ...worker.served,
        // Gateways count the requests and objects of every key.
        allowances: allowancesOf({ rate: 0 }),
        address,
        log,
        drainMs,
        signal,
        ...(metrics && { metrics }),
        ...(host.faults && { faults: host.faults }),
      })
    } finally {
      await worker.close()
    }
    // A worker that was drained ends with success.
    return signal.aborted ? serviceExit(io) : exits.done
  },
}

/** @throws BaxError `invalid_request` naming the flag whose file is missing or unusable */
async function readTls(cert: string | undefined, key: string | undefined, cwd: string) {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key']
    throw new BaxError('invalid_request', `${given} needs ${missing}`, { hint: `pass ${missing} FILE` })
  }
  const { readTlsIdentity } = await import('../../../server/access/tls-files.ts')
  return readTlsIdentity({ cert: resolve(cwd, cert), key: resolve(cwd, key) })
}

/** @throws BaxError `invalid_request` for a name that does not fit into a list */
async function checkedName(name: string | undefined): Promise<string | undefined> {
  const { displayName } = await import('../../../core/shapes/fields.ts')
  const reason = displayName.optional().safeParse(name).error?.issues[0]?.message
  if (reason === undefined) return name
  throw new BaxError('invalid_request', `--name ${JSON.stringify(name)} is not valid: ${reason}`, {
    hint: 'pass a short name, such as --name rack-3',
  })
}

/** Capabilities and slots, as the worker registers them. */
export interface Capacity {
  readonly labels: readonly WorkerLabel[]
  readonly slots: Readonly<Record<SlotKind, number>>
  readonly pages: number
}

function readCapacity(flags: ValuesOf<typeof workerParams>): Capacity {
  const { labels = workerLabels } = flags
  const number = (name: 'sessions' | 'shells' | 'relays' | 'pages') => {
    const value = flags[name]
    if (value >= 0) return value
    throw new BaxError('invalid_request', `--${name} must be at least 0, not ${value}`)
  }
  const all = { session: number('sessions'), shell: number('shells'), relay: number('relays') }
  const slotsOf = (kind: SlotKind) => (labels.includes(slotKinds[kind]) ? all[kind] : 0)
  const slots = { session: slotsOf('session'), shell: slotsOf('shell'), relay: slotsOf('relay') }
  return { labels, slots, pages: labels.includes('render') ? number('pages') : 0 }
}

/** Returns a pool with enough browsers for the sessions. */
function poolFor(sessions: number, given: Partial<PoolConfig> = {}): Partial<PoolConfig> {
  const { contextsPerBrowser, browsers, processes } = { ...limits.pool, ...given }
  return {
    ...given,
    browsers: Math.max(browsers, Math.ceil(sessions / contextsPerBrowser)),
    // Up to half of the sessions may belong to different keys, each with its own browser.
    processes: Math.max(processes, Math.ceil(sessions / 2)),
  }
}
