/** Creates sessions. */
import type { Calls, Input, Unchecked } from '../../client/calls.ts'
import type { SessionCreated } from '../../core/shapes/session.ts'
import type { Context } from '../context.ts'
import { showWarning } from '../output/output.ts'
import { waitForProvision } from '../../client/provision.ts'

/** Creates a session, waits for its browser, reports its warning, and returns its ID. */
export async function createReady(
  context: Context,
  calls: Calls,
  input: Input<'createSession'> | Unchecked,
): Promise<string> {
  const created = await createOrUndo(context, calls, input)
  const isReady = created.status === 'ready'
  const ready = isReady ? created : await waitForProvision(calls, created.provision_id!, context.io.signal)
  await showWarning(context.io, ready)
  return ready.session_id!
}

/** Time to wait for the answer after an interrupt, in milliseconds: its ID is needed to delete the session. */
const undoMs = 1000

/** Creates a session, and deletes it again after an interrupt. It may still be waiting for a browser. */
export async function createOrUndo(
  { io: { signal } }: Context,
  { ask }: Calls,
  input: Input<'createSession'> | Unchecked,
): Promise<SessionCreated> {
  const undoTimeout = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => (timer = setTimeout(() => undoTimeout.abort(signal.reason), undoMs))
  signal.addEventListener('abort', interrupt, { once: true })
  try {
    const options = { signal: undoTimeout.signal, strict: true }
    const created = await ask('createSession', input, options)
    if (!signal.aborted) return created
    const { status, provision_id, session_id } = created
    if (status === 'provisioning') await ask('cancelProvision', { provision_id: provision_id! })
    else await ask('closeSession', { session_id: session_id! })
    throw signal.reason
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
  }
}
