/** Starts, replaces and stops the local engine of a state folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { callsOf } from '../../client/calls.ts'
import { overSocket, type WireResponse } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { engineToCall } from '../../core/state/engine-socket.ts'
import { type EngineState, localFiles, type StartReport } from '../../core/state/local-files.ts'
import { queryLock, waitForRelease } from '../../core/process/process-lock.ts'
import { explainDir, openStateDir, stateLock } from '../../core/state/state-dir.ts'
import { version } from '../../core/version.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { Context } from '../context.ts'
import { whileResponsive } from './responsive.ts'
import { isUnreachable } from './unreachable.ts'

/**
 * Starts the engine unless one holds the lock of the state folder, waits until it is ready, and calls `use` with its
 * state. The lock ensures that concurrent commands start a single engine.
 */
export async function withStartedEngine(
  context: Context,
  use: (state: EngineState) => Promise<WireResponse>,
): Promise<WireResponse> {
  const { settings, io } = context
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(limits.engine.startMs)])
  try {
    await openStateDir(settings.stateDir)
    const lock = await stateLock(settings.stateDir, io.host)
    for (;;) {
      const answer = await queryLock(lock, signal)
      if (!answer.held) checkReport(await spawnEngine(context, signal))
      else if (answer.line !== undefined) checkReport(JSON.parse(answer.line) as StartReport)
      const state = engineToCall(settings.stateDir, io.host.uid)
      if (state && state.version !== version) await retireOtherVersion(context, state)
      else if (state) {
        try {
          return await use(state)
        } catch (error) {
          if (!isUnreachable(error)) throw error
        }
      }
      // The engine is about to end, or is not ready yet.
      await withDeadline((either) => waitForRelease(lock, either), { ms: 50, value: undefined, signal })
    }
  } catch (error) {
    if (io.signal.aborted || !signal.aborted || error instanceof BaxError) throw explainDir(error, settings.stateDir)
    throw new BaxError('engine_failed', `the local engine was not ready after ${limits.engine.startMs / 1000} s`, {
      hint: `see the log in ${localFiles(settings.stateDir).log}`,
      cause: error,
    })
  }
}

function checkReport(report: StartReport): void {
  if (report.state === 'failed') throw BaxError.fromBody(report.error, 'engine_failed')
}

/** Starts the engine as a background process that outlives this one. Returns its start report. */
async function spawnEngine({ settings, io }: Context, signal: AbortSignal): Promise<StartReport> {
  const { log } = localFiles(settings.stateDir)
  const [program, ...leading] = io.host.self
  const args = [...leading, 'engine', 'run', '--report-fd', '3', '--state-dir', settings.stateDir]
  if (settings.browser) args.push('--browser', settings.browser)
  if (settings.noProxy) args.push('--no-proxy')
  const output = await open(log, 'a', 0o600)
  let child: ChildProcess
  try {
    child = spawn(program, args, {
      detached: true,
      windowsHide: true,
      cwd: settings.stateDir,
      env: { ...io.env },
      stdio: ['ignore', output.fd, output.fd, 'pipe'],
    })
  } finally {
    await output.close()
  }
  const failed = new Promise<never>((_, reject) => child.once('error', reject))
  const pipe = child.stdio[3] as Readable
  try {
    return await Promise.race([firstLine(pipe, log, signal), failed])
  } finally {
    pipe.destroy()
    child.unref()
  }
}

async function firstLine(pipe: Readable, log: string, signal: AbortSignal): Promise<StartReport> {
  let text = ''
  const abort = () => pipe.destroy(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  try {
    for await (const chunk of pipe) {
      text += String(chunk)
      if (text.includes('\n')) return JSON.parse(text) as StartReport
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
  throw new BaxError('engine_failed', 'the local engine ended before it was ready', { hint: `see the log in ${log}` })
}

/**
 * Ends an engine of another version if it has no sessions.
 * @throws BaxError `engine_failed` with both versions if it has sessions
 */
export async function retireOtherVersion(context: Context, state: EngineState): Promise<void> {
  await retire(context, state, (held) => {
    const message = `the local engine is bax ${state.version} and holds ${held}; this is bax ${version}`
    throw new BaxError('engine_failed', message, {
      hint: `close them with bax ${state.version}, or run "bax engine stop" to end them all`,
    })
  })
}

/**
 * Ends an engine with another browser setting if it has no sessions. If it has some, a command without that setting
 * uses it.
 * @throws BaxError `engine_failed` if the command names a browser and the engine has sessions
 */
export async function retireOtherBrowser(context: Context, state: EngineState): Promise<void> {
  const { browser } = context.settings
  await retire(context, state, (held) => {
    if (browser === undefined) return
    const message = `the local engine uses ${state.browser ?? 'the browser it found'} and holds ${held}; this command names ${browser}`
    throw new BaxError('engine_failed', message, {
      hint: 'leave out --browser or BAX_BROWSER, run "bax engine stop" to end the sessions, or use --embedded',
    })
  })
}

/**
 * Ends an engine with other proxies if it has no sessions. If it has some, a command without proxies uses it.
 * @throws BaxError `engine_failed` if the command has proxies, or refuses them, and the engine has sessions
 */
export async function retireOtherProxies(context: Context, state: EngineState): Promise<void> {
  const { proxies, noProxy } = context.settings
  await retire(context, state, (held) => {
    if (!proxies && !noProxy) return
    const message = `the local engine was started ${state.proxies ? 'with other proxies' : 'without proxies'} and holds ${held}`
    throw new BaxError('engine_failed', message, {
      hint: `run "bax engine stop" to end the sessions, or use --embedded`,
    })
  })
}

/** Stops an engine without sessions; calls `inUse` if it has some. */
async function retire(context: Context, state: EngineState, inUse: (held: string) => void): Promise<void> {
  const { ask } = callsOf(overSocket(state.socket), context.manifest.operations)
  try {
    // An engine of an earlier version may have no shells.
    const status = await whileResponsive(context.io, state, ask('getEngineStatus', {}))
    const held = status.sessions + status.provisions + (status.shells ?? 0)
    if (held > 0) return inUse(`${held} session${held === 1 ? '' : 's'}`)
    await whileResponsive(context.io, state, ask('stopEngine', {}))
  } catch (error) {
    if (isUnreachable(error)) return
    throw error
  }
  await engineEnded(context, state)
}

/**
 * Waits until no engine holds the lock of the state folder. `stopped` is the earlier state of the stopped engine, which
 * removes its state file first.
 * @throws BaxError `timeout`
 */
export async function engineEnded({ settings, io }: Context, stopped: EngineState | undefined): Promise<void> {
  const { startMs: ms } = limits.engine
  const error = () => {
    const name = stopped ? `the local engine (process ${stopped.pid})` : 'the local engine'
    const kill = stopped ? `, or run "kill -KILL ${stopped.pid}"` : ''
    return new BaxError('timeout', `${name} did not stop within ${ms / 1000} s`, {
      hint: `see the log in ${localFiles(settings.stateDir).log}${kill}`,
    })
  }
  const lock = await stateLock(settings.stateDir, io.host)
  await withDeadline((signal) => waitForRelease(lock, signal), { ms, error, signal: io.signal, unref: true })
}
