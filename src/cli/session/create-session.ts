/** Creates sessions. */
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { SessionCreated } from '../../core/shapes/session.ts'
import type { Context } from '../context.ts'
import { showWarning } from '../output/output.ts'
import { provisionPath, waitForProvision } from './provision.ts'

/** Creates a session, waits for its browser, reports its warning, and returns its ID. */
export async function createReady(
  context: Context,
  transport: Transport,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  const created = await createOrUndo(context, transport, input)
  const isReady = created.status === 'ready'
  const ready = isReady ? created : await waitForProvision(transport, created.provision_id!, context.io.signal)
  await showWarning(context.io, ready)
  return ready.session_id!
}

/** Time to wait for the answer after an interrupt, in milliseconds: its ID is needed to delete the session. */
const undoMs = 1000

/** Creates a session, and deletes it again after an interrupt. It may still be waiting for a browser. */
export async function createOrUndo(
  { io: { signal } }: Context,
  transport: Transport,
  input: Readonly<Record<string, unknown>>,
): Promise<SessionCreated> {
  const undoTimeout = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => (timer = setTimeout(() => undoTimeout.abort(signal.reason), undoMs))
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    const options = { signal: undoTimeout.signal, strict: true }
    const created = (await call(transport, 'POST /sessions', input, options)) as SessionCreated
    if (!signal.aborted) return created
    const { status, provision_id, session_id } = created
    if (status === 'provisioning') await call(transport, `DELETE ${provisionPath}`, { provision_id })
    else await call(transport, 'DELETE /sessions/{session_id}', { session_id })
    throw signal.reason
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
  }
}
