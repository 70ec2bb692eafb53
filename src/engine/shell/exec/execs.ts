/** Runs commands in shell sessions: to the end, in the background, or as a stream of frames. */
import type { Caller } from '../../../core/access/caller.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { ExecInput } from '../../../core/shapes/shell/exec.ts'
import type { Shells } from '../../../core/shells.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { bindRecord } from '../../bound.ts'
import { ContainerError } from '../container.ts'
import type { ShellContainer } from '../interface.ts'
import type { ShellSession } from '../session/session.ts'
import type { ShellSessions } from '../session/sessions.ts'
import type { StartedExec } from './exec-registry.ts'
import { FrameLog } from './frame-log.ts'
import { bytesOf } from './characters.ts'
import { signalNumber } from './outcome.ts'
import { planExec, type ExecRequest } from './plan.ts'
import { RunningExec } from './running-exec.ts'

interface Start {
  readonly request: ExecRequest & { readonly encoding: ExecInput['encoding'] }
  readonly outputLimit: number | undefined
  readonly log?: FrameLog
  /** Whether its record stays available after its end. */
  readonly keep: boolean
}

export function execOperations(
  sessions: Pick<ShellSessions, 'find' | 'seenBy'>,
  config: Pick<EngineConfig, 'bound' | 'log'>,
): Shells['execs'] {
  const find = (execId: string, caller: Caller): RunningExec => {
    for (const session of sessions.seenBy(caller)) {
      const exec = session.execs.get(execId)
      if (exec) return exec
    }
    throw new BaxError('exec_not_found', `no command has the id ${execId}`)
  }
  return {
    run: async (input, { signal, caller }) => {
      const session = sessions.find(input.session_id, caller)
      const outputLimit = input.max_output_bytes ?? session.maxOutputBytes
      const started = await start(session, { request: input, outputLimit, keep: input.background }, config)
      const { exec, ended } = started
      if (input.background) {
        // Its record reports the outcome.
        ended.catch(() => {})
        return { exec_id: exec.identity.id, status: 'running', pid: exec.pid }
      }
      await waitOrKill(signal, started)
      return exec.result()
    },
    stream: async (input, { signal, caller }) => {
      const session = sessions.find(input.session_id, caller)
      const detached = input.on_disconnect === 'continue'
      const log = new FrameLog(detached)
      const options = { request: input, outputLimit: input.max_output_bytes, log, keep: true }
      const started = await start(session, options, config)
      const frames = log.follow(0, signal)
      // The last frame reports the outcome.
      if (detached) started.ended.catch(() => {})
      else waitOrKill(signal, started).catch(() => {})
      return frames
    },
    follow: async (execId, { since, signal, caller }) => {
      const { log } = find(execId, caller)
      if (!log?.isReplayable) throw new BaxError('conflict', `${execId} was not started with on_disconnect "continue"`)
      return log.follow(since ?? 0, signal)
    },
    get: async (execId, { caller }) => find(execId, caller).record(),
    signal: async ({ exec_id, signal }, { caller }) => {
      const exec = find(exec_id, caller)
      if (exec.isRunning) exec.signal(signalNumber(signal))
    },
    write: async ({ exec_id, data, encoding, eof }, { signal, caller }) => {
      const exec = find(exec_id, caller)
      await withDeadline(exec.write(bytesOf(data, encoding, 'data'), eof), { signal })
    },
    resize: async ({ exec_id, cols, rows }, { caller }) => find(exec_id, caller).resize({ cols, rows }),
  }
}

async function start(
  session: ShellSession,
  options: Start,
  config: Pick<EngineConfig, 'bound' | 'log'>,
): Promise<StartedExec> {
  const { container, release } = session.hold()
  let unreserve: (() => void) | undefined
  try {
    unreserve = session.execs.reserve()
    const exec = await begin(session, container, options)
    const started = { exec, ended: follow(session, exec).finally(release) }
    session.execs.add(started, options.keep)
    if (options.keep) await makeKnown(session, started, config)
    return started
  } catch (error) {
    release()
    throw explainStart(error, options.request)
  } finally {
    unreserve?.()
  }
}

/** Binds a command that other calls can name; its record is kept no longer than that of its session. */
async function makeKnown(
  { owner, endsBy }: ShellSession,
  { exec, ended }: StartedExec,
  config: Pick<EngineConfig, 'bound' | 'log'>,
): Promise<void> {
  try {
    const keptMs = endsBy.getTime() - Date.now() + limits.shell.tombstoneMs
    await bindRecord(config, { id: exec.identity.id, kind: 'exec', owner }, keptMs)
  } catch (error) {
    ended.catch(() => {})
    exec.kill()
    throw error
  }
}

async function begin(session: ShellSession, container: ShellContainer, options: Start): Promise<RunningExec> {
  const { request, outputLimit, log } = options
  const { spec, firstInput } = await planExec(request, session.terms, container, outputLimit)
  const running = await container.exec(spec)
  const identity = { id: newId('ex'), sessionId: session.id, startedAt: new Date().toISOString() }
  const isTerminal = request.pty !== undefined
  const exec = new RunningExec(identity, running, { encoding: request.encoding, isTerminal, log })
  const { id: exec_id, sessionId: session_id, startedAt: started_at } = identity
  log?.add('start', { exec_id, session_id, pid: exec.pid, started_at })
  // The program may never read its input.
  if (firstInput) exec.write(firstInput, false).catch(() => {})
  return exec
}

/** Reads the output, waits for the exit, captures artifacts, and adds the frames of both. */
async function follow(session: ShellSession, exec: RunningExec): Promise<void> {
  const { log } = exec
  try {
    await exec.finish()
  } catch (error) {
    const { code, message } = asBaxError(error)
    log?.end('error', { code, message })
    throw error
  }
  const artifact = await session.captureAfter(exec)
  exec.setArtifact(artifact?.id ?? null)
  if (artifact) log?.add('artifact', { artifact_id: artifact.id, files: artifact.files })
  log?.end('exit', { ...exec.outcome() })
}

/** Waits for the end; kills the command with all its processes when the caller disconnects. */
async function waitOrKill(signal: AbortSignal, { exec, ended }: StartedExec): Promise<void> {
  const kill = () => exec.kill()
  if (signal.aborted) kill()
  signal.addEventListener('abort', kill, { once: true })
  try {
    await ended
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

/** Translates an error of starting a program into terms of the request. */
function explainStart(error: unknown, { cwd }: ExecRequest): unknown {
  if (!(error instanceof ContainerError)) return error
  const where = cwd === undefined ? 'the working folder of the session' : `cwd ${cwd}`
  const details = cwd === undefined ? {} : { details: [{ path: 'cwd', message: error.code }] }
  switch (error.code) {
    case 'ENOENT':
      return new BaxError('file_not_found', `${where} does not exist`, { cause: error, ...details })
    case 'ENOTDIR':
      return new BaxError('not_a_directory', `${where} is not a directory`, { cause: error, ...details })
    case 'EACCES':
      return new BaxError('permission_denied', `no permission to enter ${where}`, { cause: error, ...details })
    case 'EAGAIN':
      return new BaxError('too_many_execs', 'the session has reached its limit of processes', {
        cause: error,
        hint: 'kill all of them with POST /shell/sessions/{id}/kill (bax shell kill), or create a session with a higher limits.pids',
      })
    default:
      return new BaxError('unsupported', `the container could not start the program (${error.code})`, { cause: error })
  }
}
