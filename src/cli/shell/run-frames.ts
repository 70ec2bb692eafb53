/** Runs a command of a session with the standard streams of this terminal. */
import type { Calls, FrameOf, Input, Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { type Io, type Output, ReaderGone } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { writeThrough } from './write-through.ts'

/** Exit code after standard output was closed: 128 + SIGPIPE. */
const brokenPipe = 141

type ExecFrame = FrameOf<'shellExecStream'>

export interface FramesRun {
  readonly io: Io
  readonly engine: Calls
  readonly body: Input<'shellExecStream'> | Unchecked
  /** Whether to send standard input to the command. */
  readonly withStdin: boolean
  /** Called with the ID of the command when it starts. */
  readonly onStart?: (execId: string) => void
}

export interface Ended {
  readonly exitCode: number
  readonly artifactIds: readonly string[]
}

/** Runs the command to its end. @throws BaxError if it cannot run, or its end is unknown */
export async function runFrames(run: FramesRun): Promise<Ended> {
  const { io, engine, body } = run
  const over = new AbortController()
  const signal = AbortSignal.any([io.signal, over.signal])
  try {
    const frames = await engine.open('shellExecStream', body, { signal, strict: true })
    return await follow(frames!, io, (execId) => {
      run.onStart?.(execId)
      if (run.withStdin) void pumpStdin(io, engine, execId, over.signal).catch((error) => over.abort(error))
    })
  } catch (error) {
    if (error instanceof ReaderGone) return { exitCode: brokenPipe, artifactIds: [] }
    throw error
  } finally {
    over.abort()
  }
}

async function follow(frames: AsyncIterable<ExecFrame>, io: Io, onStart: (execId: string) => void): Promise<Ended> {
  const artifactIds: string[] = []
  for await (const frame of frames) {
    switch (frame.type) {
      case 'start':
        onStart(frame.exec_id)
        break
      case 'stdout':
      case 'pty':
        await show(io.stdout, frame)
        break
      case 'stderr':
        await show(io.stderr, frame)
        break
      case 'artifact':
        artifactIds.push(frame.artifact_id)
        break
      case 'exit':
        await showWarning(io, frame)
        return { exitCode: frame.exit_code, artifactIds }
      case 'error':
        throw BaxError.fromBody({ code: frame.code, error: frame.message }, 'session_lost')
    }
  }
  throw new BaxError('session_lost', 'the stream ended before the command')
}

const show = (output: Output, { data, encoding }: Extract<ExecFrame, { encoding: unknown }>): Promise<void> =>
  writeThrough(output, Buffer.from(data, encoding))

/** Maximum number of bytes per request. */
const maxBytes = 256 * 1024

/** Sends input until it ends, or the command no longer reads it. */
async function pumpStdin(io: Io, { ask }: Calls, exec_id: string, signal: AbortSignal): Promise<void> {
  const send = (fields: Omit<Input<'writeShellExec'>, 'exec_id'>) =>
    ask('writeShellExec', { exec_id, ...fields }, { signal })
  try {
    for await (const chunk of io.stdin) {
      if (signal.aborted) return
      const bytes = Buffer.from(chunk)
      for (let at = 0; at < bytes.length; at += maxBytes) {
        await send({ data: bytes.toString('base64', at, Math.min(at + maxBytes, bytes.length)), encoding: 'base64' })
      }
    }
    await send({ eof: true })
  } catch (error) {
    // The command has ended, or no longer reads; its outcome is reported elsewhere.
    if (signal.aborted || isOver(error)) return
    throw error
  }
}

const isOver = (error: unknown): boolean =>
  error instanceof BaxError && ['conflict', 'exec_not_found', 'session_lost', 'session_closed'].includes(error.code)
