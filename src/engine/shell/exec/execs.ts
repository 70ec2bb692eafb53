/** Runs commands in shell sessions: to the end, in the background, or as a stream of frames. */
import type { Call, Frame, StreamCall } from '../../../core/operation/call.ts'
import type { Caller } from '../../../core/access/caller.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type {
  ExecAnswer,
  ExecInput,
  ExecRecord,
  ExecStreamInput,
  ResizeInput,
  SignalInput,
  StdinInput,
} from '../../../core/shapes/shell/exec.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { ContainerError, type ShellContainer } from '../container.ts'
import type { ShellSession } from '../session/session.ts'
import type { ShellSessions } from '../session/sessions.ts'
import { FrameLog } from './frame-log.ts'
import { bytesOf } from './input-bytes.ts'
import { signalNumber } from './outcome.ts'
import { planExec, type ExecRequest } from './plan.ts'
import { type DeliveredBytes, RunningExec } from './running-exec.ts'
import { streamOutput } from './stream-output.ts'

type SessionLookup = Pick<ShellSessions, 'find' | 'seenBy'>

interface Start {
  readonly request: ExecRequest & { readonly encoding: ExecInput['encoding'] }
  readonly outputLimit: number | undefined
  readonly log?: FrameLog
  /** Whether its record stays available after its end. */
  readonly keep: boolean
}

/** Running command; `ended` rejects when the container is lost. */
interface Started {
  readonly exec: RunningExec
  readonly ended: Promise<void>
}

export class ShellExecs {
  readonly #sessions: SessionLookup

  constructor(sessions: SessionLookup) {
    this.#sessions = sessions
  }

  async run(input: ExecInput, { signal, caller }: Call): Promise<ExecAnswer> {
    const session = this.#sessions.find(input.session_id, caller)
    const outputLimit = input.max_output_bytes ?? session.maxOutputBytes
    const started = await this.#start(session, { request: input, outputLimit, keep: input.background })
    const { exec, ended } = started
    if (input.background) {
      // Its record reports the outcome.
      ended.catch(() => {})
      return { exec_id: exec.identity.id, status: 'running', pid: exec.pid }
    }
    await waitOrKill(signal, started)
    return exec.result()
  }

  async stream(input: ExecStreamInput, { signal, caller }: StreamCall): Promise<AsyncIterable<Frame>> {
    const session = this.#sessions.find(input.session_id, caller)
    const detached = input.on_disconnect === 'continue'
    const log = new FrameLog(detached)
    const started = await this.#start(session, { request: input, outputLimit: input.max_output_bytes, log, keep: true })
    const frames = log.follow(0, signal)
    // The last frame reports the outcome.
    if (detached) started.ended.catch(() => {})
    else waitOrKill(signal, started).catch(() => {})
    return frames
  }

  async follow(execId: string, { since, signal, caller }: StreamCall): Promise<AsyncIterable<Frame>> {
    const { log } = this.#find(execId, caller)
    if (!log?.isReplayable) throw new BaxError('conflict', `${execId} was not started with on_disconnect "continue"`)
    return log.follow(since ?? 0, signal)
  }

  async get(execId: string, { caller }: Call): Promise<ExecRecord> {
    return this.#find(execId, caller).record()
  }

  async signal({ exec_id, signal }: SignalInput, { caller }: Call): Promise<void> {
    const exec = this.#find(exec_id, caller)
    if (exec.isRunning) exec.signal(signalNumber(signal))
  }

  async write({ exec_id, data, encoding, eof }: StdinInput, { signal, caller }: Call): Promise<void> {
    const exec = this.#find(exec_id, caller)
    const bytes = bytesOf(data, encoding, 'data')
    await withDeadline(exec.write(bytes, eof), { signal })
  }

  async resize({ exec_id, cols, rows }: ResizeInput, { caller }: Call): Promise<void> {
    this.#find(exec_id, caller).resize({ cols, rows })
  }

  #find(execId: string, caller: Caller): RunningExec {
    for (const session of this.#sessions.seenBy(caller)) {
      const exec = session.execs.get(execId)
      if (exec) return exec
    }
    throw new BaxError('exec_not_found', `no command has the id ${execId}`)
  }

  async #start(session: ShellSession, start: Start): Promise<Started> {
    const { container, release } = session.hold()
    const unreserve = reserve(session, release)
    try {
      const exec = await begin(session, container, start)
      const ended = follow(session, exec, start).finally(release)
      // Failures are reported by `ended` itself.
      session.execs.add(exec, ended.catch(() => {}), start.keep) // prettier-ignore
      return { exec, ended }
    } catch (error) {
      release()
      throw explainStart(error, start.request)
    } finally {
      unreserve()
    }
  }
}

function reserve(session: ShellSession, release: () => void): () => void {
  try {
    return session.execs.reserve()
  } catch (error) {
    release()
    throw error
  }
}

async function begin(session: ShellSession, container: ShellContainer, start: Start): Promise<RunningExec> {
  const { request, outputLimit, log } = start
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
async function follow(session: ShellSession, exec: RunningExec, { log, request }: Start): Promise<void> {
  const take: (from: Parameters<RunningExec['collect']>[0]) => Promise<DeliveredBytes> = log
    ? streamOutput(log, request.pty !== undefined)
    : exec.collect
  try {
    await exec.finish(take)
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
async function waitOrKill(signal: AbortSignal, { exec, ended }: Started): Promise<void> {
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
