/** The local engine: one process per state folder, which holds a lock for its lifetime and listens on a unix socket. */
import { lstat, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hono } from 'hono'
import type { EngineConfig } from '../../core/config/config.ts'
import { proxiesDigest } from '../../core/config/proxy-settings.ts'
import type { Engine } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type EngineState, localFiles, readEngineState, type StartReport } from '../../core/state/local-files.ts'
import type { HeldLock } from '../../core/process/file-lock.ts'
import { acquireLock } from '../../core/process/process-lock.ts'
import type { ProcessErrors } from '../../core/process/unhandled-errors.ts'
import { writeState } from '../../core/state/state-file.ts'
import { explainDir, folderHash, type LockHost, openStateDir, stateLock } from '../../core/state/state-dir.ts'
import { version } from '../../core/version.ts'
import { createApp } from '../app.ts'
import { privateGate } from '../access/gate.ts'
import { idleWatch } from './idle-watch.ts'
import { aborted, handleUncaughtErrors } from './uncaught-errors.ts'
import { type CommandWorker, openLaunched } from './command-workers.ts'
import { listen } from './listen.ts'
import { openLogFile } from './log-file.ts'
import { listenForSockets } from './socket-port.ts'
import {
  removeTemporaryFiles,
  contentCheck,
  fileCheck,
  fileIdentity,
  folderCheck,
  watchChecks,
} from './folder-checks.ts'
import { type DirectCalls, directCalls } from '../request/direct.ts'
import { makeFolders } from '../../core/state/folders.ts'

const { stopGraceMs } = limits.engine

export interface LocalEngineOptions {
  readonly config: Omit<EngineConfig, 'home' | 'listensOn' | 'onStop' | 'log'>
  readonly createEngine: (config: EngineConfig) => Engine
  /** Idle time after which the process exits, in milliseconds. */
  readonly idleExitMs: number
  /** Folder for the socket if its path in the state folder would be too long. */
  readonly runtimeDir: string
  readonly host: LockHost & { readonly pid: number; readonly uid: number | undefined; readonly faults?: ProcessErrors }
  /** Warm processes for launchers; absent if the program runs from source. */
  readonly commandWorker?: CommandWorker
  /** Aborted when the process receives a signal to exit. */
  readonly signal: AbortSignal
  /** Reports the result of the start, once, to the process that started this one. */
  readonly report: (report: StartReport) => void
}

/** Returns the settings that commands compare with theirs. */
function startedWith({ browser, proxies }: LocalEngineOptions['config']): Pick<EngineState, 'browser' | 'proxies'> {
  const digest = proxiesDigest(proxies)
  return { ...(browser && { browser }), ...(digest && { proxies: digest }) }
}

/** Runs until it is stopped, receives a signal, or is idle. Reports the result of the start through `report`. */
export async function runLocalEngine(options: LocalEngineOptions): Promise<void> {
  const { stateDir } = options.config
  let lock: HeldLock | undefined
  try {
    await openStateDir(stateDir)
    lock = await acquireLock(await stateLock(stateDir, options.host))
  } catch (error) {
    return options.report({ state: 'failed', error: explainDir(error, stateDir).toBody() })
  }
  if (!lock) return options.report({ state: 'held' })
  const reportStart = (report: StartReport) => {
    lock.publish(JSON.stringify(report))
    options.report(report)
  }
  try {
    const running = await start(options)
    reportStart({ state: 'ready' })
    try {
      await running.ended
    } finally {
      await running.close()
    }
  } catch (error) {
    reportStart({ state: 'failed', error: explainDir(error, stateDir).toBody() })
    throw error
  } finally {
    await lock.release()
  }
}

interface Running {
  /** Resolves when it is time to close. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

async function start(options: LocalEngineOptions): Promise<Running> {
  const { config, host, signal } = options
  const files = localFiles(config.stateDir)
  const log = openLogFile(files.log)
  removeTemporaryFiles(config.stateDir, log)
  const socket = await socketPath(options)
  const stop = new AbortController()
  const onStop = () => stop.abort('asked to stop')
  const engine = options.createEngine({ ...config, home: 'local', listensOn: socket, onStop, log })
  // Websocket clients cannot connect to a unix socket.
  const port = await listenForSockets(engine)
  const onError = (error: BaxError, request_id: string) =>
    log('error', error.message, { request_id, cause: error.cause instanceof Error ? error.cause.stack : undefined })
  const services = { engine, sockets: port.address, onError }
  const app = createApp({ ...services, gate: privateGate })
  const idle = idleWatch({ engine, socket, idleMs: options.idleExitMs })
  const fetch = idle.counting(app.fetch)
  const calls = directCalls(services)
  const direct: DirectCalls = (request) => {
    const call = calls(request)
    return call && idle.counting(call)
  }
  const listener = await listenAt(socket, { fetch }, engine, host)
  const { started_at } = await engine.status()
  const state: EngineState = { pid: host.pid, version, started_at, socket, ...startedWith(config) }
  try {
    await writeState(files.state, state)
  } catch (error) {
    await Promise.all([listener.close(), port.close(), engine.close()])
    throw error
  }
  const launched = await openLaunched(options.commandWorker, config.stateDir, { fetch, direct, log })
  log('info', 'started', { pid: host.pid, version, socket })

  const created = host.platform === 'win32' ? undefined : fileIdentity(socket)
  let restoring: Promise<void> | undefined
  const watch = watchChecks(ownChecks(options, socket), () => {
    // Restore a state file that was damaged or deleted on its own.
    if (readEngineState(config.stateDir)?.pid === host.pid) return
    restoring = writeState(files.state, state).catch((error: Error) => log('warn', error.message))
  })
  const { crashed, stop: stopHandlers } = handleUncaughtErrors(host.faults, log)
  const received = aborted(signal).then((reason) => `received ${reason}`)
  const ends = [aborted(stop.signal), aborted(crashed), received, idle.expired.then(() => 'idle'), watch.lost]
  return {
    ended: Promise.race(ends).then((reason) => log('info', 'ending', { reason })),
    async close() {
      idle.stop()
      watch.stop()
      await restoring
      // In a replaced folder these files belong to another engine.
      if (readEngineState(config.stateDir)?.pid === host.pid) await rm(files.state, { force: true })
      await Promise.all([launched?.close(stopGraceMs), listener.close(stopGraceMs), port.close()])
      await engine.close()
      await removeSocket(socket, created)
      log('info', 'ended', { pid: host.pid })
      stopHandlers()
    },
  }
}

/** Removes the engine's socket, which an idle engine has hidden, unless another engine has replaced it. */
async function removeSocket(socket: string, created: string | undefined): Promise<void> {
  for (const path of [socket, `${socket}.closing`])
    if (created && fileIdentity(path) === created) await rm(path, { force: true })
}

/** Serves the app on the engine's socket, which is created under another name and moved into place. */
async function listenAt(socket: string, app: Pick<Hono, 'fetch'>, engine: Engine, host: LocalEngineOptions['host']) {
  // We hold the lock, so an existing socket is left over from an engine that crashed.
  await rm(socket, { force: true })
  const bound = boundPath(socket, host)
  const listener = await listen(app, { socket: bound }, { engine, gate: privateGate, own: true })
  if (bound !== socket) await rename(bound, socket)
  return listener
}

/** Returns the checks that this engine is still the only one of its folder. */
function ownChecks({ config: { stateDir }, host }: LocalEngineOptions, socket: string) {
  const hasFile = host.platform !== 'win32'
  // An idle engine hides its socket before it exits.
  const socketCheck = hasFile ? fileCheck([socket, `${socket}.closing`], 'socket') : () => undefined
  const lockCheck = contentCheck(localFiles(stateDir).lockKey, 'key of the lock')
  return [folderCheck(stateDir), lockCheck, socketCheck]
}

/**
 * Returns the path at which the socket is created before it is moved into place: closing a listener deletes the path it
 * was created at, and in a replaced folder that path can belong to another engine.
 */
const boundPath = (socket: string, { pid, platform }: { pid: number; platform: NodeJS.Platform }): string =>
  platform === 'win32' ? socket : `${socket}.${pid.toString(36)}`

/** Returns a path in the state folder, or in the runtime folder if it exceeds 107 bytes (Linux) or 103 (macOS). */
async function socketPath({ config, host, runtimeDir }: LocalEngineOptions): Promise<string> {
  if (host.platform === 'win32') return `\\\\.\\pipe\\bax-${folderHash(config.stateDir)}`
  const longest = host.platform === 'darwin' ? 103 : 107
  const preferred = join(config.stateDir, 'engine.sock')
  const fits = (path: string) => Buffer.byteLength(boundPath(path, host)) <= longest
  if (fits(preferred)) return preferred
  const short = join(runtimeDir, `${folderHash(config.stateDir).slice(0, 16)}.sock`)
  if (!fits(short)) {
    throw new BaxError('engine_failed', `the path of the engine socket is too long: ${short}`, {
      hint: 'choose a shorter folder with --state-dir or BAX_STATE_DIR',
    })
  }
  makeFolders(runtimeDir, 0o700)
  const { mode, uid } = await lstat(runtimeDir)
  // The owner of the folder could replace the socket with their own.
  const isForeign = host.uid !== undefined && uid !== host.uid
  if ((mode & 0o170_000) !== 0o040_000 || mode & 0o077 || isForeign) {
    throw new BaxError('engine_failed', `${runtimeDir} is not a folder that only you can access`, {
      hint: 'remove it, or choose a shorter folder with --state-dir',
    })
  }
  return short
}
