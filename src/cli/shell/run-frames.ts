/** Runs a command as if it ran here: its bytes, its input, its exit code. */
import { openStream } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Frame } from '../../core/operation/stream.ts'
import type { Io, Output } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { pumpStdin } from './stdin-pump.ts'
import { ReaderGone, writeThrough } from './write-through.ts'

/** Exit code of a program whose reader has gone: 128 + SIGPIPE. */
const brokenPipe = 141

export interface FramesErrand {
  readonly io: Io
  readonly transport: Transport
  readonly http: string
  readonly body: Readonly<Record<string, unknown>>
  /** Whether standard input goes to the command. */
  readonly withStdin: boolean
  /** Called with the id of the command when it runs. */
  readonly onStart?: (execId: string) => void
}

export interface Ended {
  readonly exitCode: number
  readonly artifactIds: readonly string[]
}

/** @throws BaxError when the command could not be run, or its end is not known. */
export async function runFrames(errand: FramesErrand): Promise<Ended> {
  const { io, transport, http, body } = errand
  const over = new AbortController()
  const signal = AbortSignal.any([io.signal, over.signal])
  const pumps: Promise<void>[] = []
  try {
    const frames = await openStream(transport, http, body, { signal, strict: true })
    const ended = await follow(frames!, io, (execId) => {
      errand.onStart?.(execId)
      if (errand.withStdin)
        pumps.push(pumpStdin(io, transport, execId, over.signal).catch((error) => over.abort(error)))
    })
    return ended
  } catch (error) {
    if (error instanceof ReaderGone) return { exitCode: brokenPipe, artifactIds: [] }
    throw error
  } finally {
    over.abort()
  }
}

async function follow(frames: AsyncIterable<Frame>, io: Io, onStart: (execId: string) => void): Promise<Ended> {
  const artifactIds: string[] = []
  for await (const frame of frames) {
    const fields = frame as Frame & Record<string, unknown>
    switch (frame.type) {
      case 'start':
        onStart(String(fields['exec_id']))
        break
      case 'stdout':
      case 'pty':
        await show(io.stdout, fields)
        break
      case 'stderr':
        await show(io.stderr, fields)
        break
      case 'artifact':
        artifactIds.push(String(fields['artifact_id']))
        break
      case 'exit':
        await showWarning(io, fields)
        return { exitCode: Number(fields['exit_code']), artifactIds }
      case 'error':
        throw BaxError.fromBody({ code: fields['code'], error: fields['message'] }, 'session_lost')
    }
  }
  throw new BaxError('session_lost', 'the stream ended before the command did')
}

const show = (output: Output, { data, encoding }: Record<string, unknown>): Promise<void> =>
  writeThrough(output, Buffer.from(String(data), encoding as BufferEncoding))
