/** The local engine: one process per state folder, held by a lock for its whole life, reached over a unix socket. */
import { lstat, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hono } from 'hono'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type EngineState, localFiles, readEngineState, type StartReport } from '../../core/state/local-home.ts'
import type { HeldLock } from '../../core/process/lock-holder.ts'
import { holdLock } from '../../core/process/process-lock.ts'
import type { ProcessFaults } from '../../core/process/orphans.ts'
import { writeState } from '../../core/state/state-file.ts'
import { explainDir, folderHash, type LockHost, openStateDir, stateLock } from '../../core/state/state-dir.ts'
import { version } from '../../core/version.ts'
import { createApp } from '../app.ts'
import { type Gate, loopbackHosts, privateGate } from '../access/gate.ts'
import { idleWatch } from './idle-watch.ts'
import { openLastResort } from './last-resort.ts'
import { listen } from './listen.ts'
import { livePage } from '../live-view/page.ts'
import { openLogFile } from './log-file.ts'
import { clearAbandoned, contentCheck, fileCheck, folderCheck, type Watch, watchOwn } from './own-folder.ts'
import { accessesAt } from '../request/routes.ts'

export interface LocalEngineOptions {
  readonly config: Omit<EngineConfig, 'home' | 'listensOn' | 'onStop' | 'log'>
  readonly createEngine: (config: EngineConfig) => Engine
  /** Ends the process when nothing has been open for so long. */
  readonly idleExitMs: number
  /** Folder for the socket when its path in the state folder would be too long. */
  readonly runtimeDir: string
  readonly host: LockHost & { readonly pid: number; readonly uid: number | undefined; readonly faults?: ProcessFaults }
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal
  /** Tells the starter, once, how the start went. */
  readonly report: (report: StartReport) => void
}

/** Runs until it is stopped, told to end, or idle for long enough. How the start went is told through `report`. */
export async function runLocalEngine(options: LocalEngineOptions): Promise<void> {
  const { stateDir } = options.config
  let lock: HeldLock | undefined
  try {
    await openStateDir(stateDir)
    lock = await holdLock(await stateLock(stateDir, options.host))
  } catch (error) {
    return options.report({ state: 'failed', error: explainDir(error, stateDir).toBody() })
  }
  if (!lock) return options.report({ state: 'held' })
  const tell = (report: StartReport) => {
    lock.answer(JSON.stringify(report))
    options.report(report)
  }
  try {
    const running = await start(options)
    tell({ state: 'ready' })
    try {
      await running.ended
    } finally {
      await running.close()
    }
  } catch (error) {
    tell({ state: 'failed', error: explainDir(error, stateDir).toBody() })
    throw error
  } finally {
    await lock.release()
  }
}

/** On the port for websockets nothing else is answered but the page that opens one. */
const pages = (gate: Gate) => ({
  fetch: (request: Request) =>
    accessesAt(request.method, new URL(request.url).pathname).some(({ page }) => page)
      ? livePage(request, gate.origins)
      : new Response(null, { status: 404 }),
})

interface Running {
  /** Resolves when it is time to close. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

async function start(options: LocalEngineOptions): Promise<Running> {
  const { config, host, signal } = options
  const files = localFiles(config.stateDir)
  const log = openLogFile(files.log)
  clearAbandoned(config.stateDir, log)
  const socket = await socketPath(options)
  const stop = new AbortController()
  const engine = options.createEngine({
    ...config,
    home: 'local',
    listensOn: socket,
    onStop: () => stop.abort('asked to stop'),
    log,
  })
  // Other programs cannot speak over a private socket: websockets have a port of this machine too, each with its token.
  const loopback = { hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
  const port = await listen(pages(loopback), { host: '127.0.0.1', port: 0 }, { engine, gate: loopback, own: false })
  const app = createApp({
    engine,
    gate: privateGate,
    sockets: port.address as `http${string}`,
    onFault: (error, request_id) => log('error', error.message, { request_id, cause: stackOf(error.cause) }),
  })
  const idle = idleWatch({ engine, socket, idleMs: options.idleExitMs })
  const listener = await listenAt(socket, { fetch: idle.counting(app.fetch) }, engine, host)
  const state = await stateOf(options, engine, socket)
  try {
    await writeState(files.state, state)
  } catch (error) {
    await Promise.all([listener.close(), port.close(), engine.close()])
    throw error
  }
  log('info', 'started', { pid: host.pid, version, socket })

  const own = ownFiles(options, socket)
  let restoring: Promise<void> | undefined
  const watch = watchOwn(own.checks, () => {
    // A state file that was damaged or deleted alone is written again.
    if (readEngineState(config.stateDir)?.pid === host.pid) return
    restoring = writeState(files.state, state).catch((error: Error) => log('warn', error.message))
  })
  const { crashed, stop: stopHearing } = openLastResort(host.faults, log)
  return {
    ended: endOf({ stop: stop.signal, crashed, signal, idle, watch }).then((reason) =>
      log('info', 'ending', { reason }),
    ),
    async close() {
      idle.stop()
      watch.stop()
      await restoring
      // In a folder that was replaced these are another engine's.
      if (readEngineState(config.stateDir)?.pid === host.pid) await rm(files.state, { force: true })
      await Promise.all([listener.close(limits.engine.stopGraceMs), port.close()])
      await engine.close()
      if (own.socket() === undefined) await rm(socket, { force: true })
      log('info', 'ended', { pid: host.pid })
      stopHearing()
    },
  }
}

interface Ends {
  /** Aborted by who asks it to stop, and by a fault that nobody caught. */
  readonly stop: AbortSignal
  readonly crashed: AbortSignal
  readonly signal: AbortSignal
  readonly idle: { readonly expired: Promise<void> }
  readonly watch: Watch
}

/** Why it is time to close, as soon as it is. */
const endOf = ({ stop, crashed, signal, idle, watch }: Ends): Promise<string> =>
  Promise.race([
    aborted(stop),
    aborted(crashed),
    aborted(signal).then((reason) => `received ${reason}`),
    idle.expired.then(() => 'idle'),
    watch.lost,
  ])

const stackOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.stack : undefined)

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(String(signal.reason))
    signal.addEventListener('abort', () => resolve(String(signal.reason)), { once: true })
  })

async function stateOf({ config, host }: LocalEngineOptions, engine: Engine, socket: string): Promise<EngineState> {
  const { started_at } = await engine.status()
  return { pid: host.pid, version, started_at, socket, ...(config.browser && { browser: config.browser }) }
}

/** Puts the app on the engine's socket, which is made beside its place and moved there. */
async function listenAt(socket: string, app: Pick<Hono, 'fetch'>, engine: Engine, host: LocalEngineOptions['host']) {
  // The lock is ours, so a socket that is still there belongs to an engine that has died.
  await rm(socket, { force: true })
  const bound = boundPath(socket, host)
  const listener = await listen(app, { socket: bound }, { engine, gate: privateGate, own: true })
  if (bound !== socket) await rename(bound, socket)
  return listener
}

/** What an engine relies on to be the only one of its folder. */
function ownFiles({ config: { stateDir }, host }: LocalEngineOptions, socket: string) {
  const hasFile = host.platform !== 'win32'
  // An idle engine hides its socket before it ends.
  const socketCheck = hasFile ? fileCheck([socket, `${socket}.closing`], 'socket') : () => undefined
  const lockCheck = contentCheck(localFiles(stateDir).lockKey, 'key of the lock')
  return { checks: [folderCheck(stateDir), lockCheck, socketCheck], socket: socketCheck }
}

/**
 * Where the socket is made before it is moved into place: closing a listener deletes the path that it was made at, and
 * in a folder that was replaced this path can be another engine's.
 */
const boundPath = (socket: string, { pid, platform }: { pid: number; platform: NodeJS.Platform }): string =>
  platform === 'win32' ? socket : `${socket}.${pid.toString(36)}`

/** In the state folder when the system's limit allows (107 bytes on Linux, 103 on macOS), else in the runtime folder. */
async function socketPath({ config, host, runtimeDir }: LocalEngineOptions): Promise<string> {
  if (host.platform === 'win32') return `\\\\.\\pipe\\bax-${folderHash(config.stateDir)}`
  const longest = host.platform === 'darwin' ? 103 : 107
  const natural = join(config.stateDir, 'engine.sock')
  const fits = (path: string) => Buffer.byteLength(boundPath(path, host)) <= longest
  if (fits(natural)) return natural
  const short = join(runtimeDir, `${folderHash(config.stateDir).slice(0, 16)}.sock`)
  if (!fits(short)) {
    throw new BaxError('engine_failed', `the path of the engine's socket is too long: ${short}`, {
      hint: 'choose a shorter folder with --state-dir or BAX_STATE_DIR',
    })
  }
  await mkdir(runtimeDir, { recursive: true, mode: 0o700 })
  const { mode, uid } = await lstat(runtimeDir)
  // In a folder of another user the socket could be replaced by theirs.
  const foreign = host.uid !== undefined && uid !== host.uid
  if ((mode & 0o170_000) !== 0o040_000 || mode & 0o077 || foreign) {
    throw new BaxError('engine_failed', `${runtimeDir} must be a folder that only you can enter`, {
      hint: 'remove it, or choose a shorter folder with --state-dir',
    })
  }
  return short
}
