/** The session that a command runs in: the one that is named, or one of its own that goes with it. */
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { ShellSession } from '../../core/shapes/shell/session.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Io } from '../io.ts'
import { startSpinner } from '../output/progress.ts'

/** Works in a session made for it, which is removed after, whatever happens. */
export async function inOwnShell<T>(
  io: Io,
  transport: Transport,
  wish: Readonly<Record<string, unknown>>,
  work: (sessionId: string) => Promise<T>,
): Promise<T> {
  const spinner = await startSpinner(io, 'creating a shell session')
  let session: ShellSession
  try {
    const options = { signal: io.signal, strict: true }
    session = (await call(transport, 'POST /shell/sessions', { ...wish }, options)) as ShellSession
  } finally {
    spinner.stop()
  }
  try {
    return await work(session.session_id)
  } finally {
    // An interrupt ends the work, and not the cleaning up.
    const signal = AbortSignal.timeout(limits.shell.closeMs)
    await call(transport, 'DELETE /shell/sessions/{session_id}', { session_id: session.session_id }, { signal })
  }
}
