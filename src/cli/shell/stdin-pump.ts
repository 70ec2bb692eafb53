/** Carries this terminal's standard input to a running command. */
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'

/** Bytes in one request. */
const most = 256 * 1024
const address = 'POST /shell/exec/{exec_id}/stdin'

/** Goes on until the input ends, or nobody reads it any more. */
export async function pumpStdin(io: Io, transport: Transport, exec_id: string, signal: AbortSignal): Promise<void> {
  const send = (fields: Record<string, unknown>) => call(transport, address, { exec_id, ...fields }, { signal })
  try {
    for await (const chunk of io.stdin) {
      if (signal.aborted) return
      const bytes = Buffer.from(chunk as Uint8Array)
      for (let at = 0; at < bytes.length; at += most) {
        await send({ data: bytes.toString('base64', at, Math.min(at + most, bytes.length)), encoding: 'base64' })
      }
    }
    await send({ eof: true })
  } catch (error) {
    // The command has ended or reads no more; its own outcome says what there is to say.
    if (signal.aborted || isOver(error)) return
    throw error
  }
}

const isOver = (error: unknown): boolean =>
  error instanceof BaxError && ['conflict', 'exec_not_found', 'session_lost', 'session_closed'].includes(error.code)
