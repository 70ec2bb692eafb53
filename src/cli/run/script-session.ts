/** The session of a script: created or found at its start, closed at its end. */
import { type ActionKind, assertConfirms } from '../../core/access/approvals.ts'
import type { Calls } from '../../client/calls.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { waitForProvision } from '../../client/provision.ts'
import type { EngineTools } from './call.ts'
import type { RunnerTools } from './runner.ts'
import type { SessionFields } from './script/shape.ts'

export interface ScriptSession {
  readonly id: string
  readonly warning?: string
  /** Closes a session that was created for the script, unless the script keeps it. */
  close(signal: AbortSignal): Promise<void>
}

/** Creates or finds a session. @throws BaxError as POST /sessions, or `session_not_found`, `profile_not_found`. */
export async function openSession(
  { ask }: EngineTools,
  fields: Partial<SessionFields>,
  { headed, confirm: added, records, signal }: Pick<RunnerTools, 'headed' | 'confirm' | 'records' | 'signal'>,
): Promise<ScriptSession> {
  const { session_id, profile, keep, ...input } = fields
  const confirm = [...new Set([...(input.confirm ?? []), ...added])]
  if (session_id !== undefined)
    return { id: await findSession(ask, session_id, confirm, signal), close: async () => {} }
  const options = {
    headless: true,
    ...input,
    ...(headed && { headless: false }),
    ...(confirm.length > 0 && { confirm }),
    ...(records && { replay: true }),
    ...(profile !== undefined && { profile_id: profile }),
  }
  const created = await ask('createSession', options, { signal, strict: true })
  const isReady = created.status === 'ready'
  const session = isReady ? created : await waitForProvision({ ask }, created.provision_id!, signal)
  const id = session.session_id!
  return {
    id,
    warning: session.warning,
    close: async (cleanupSignal) => {
      if (!keep) await ask('closeSession', { session_id: id }, { signal: cleanupSignal })
    },
  }
}

/** Returns the ID of the session or relayed browser with this ID or name. */
async function findSession(
  ask: Calls['ask'],
  session_id: string,
  confirm: readonly ActionKind[],
  signal: AbortSignal,
): Promise<string> {
  try {
    const found = await ask('getSession', { session_id }, { signal })
    assertConfirms(found.confirm, confirm)
    if (found.status === 'ready') return found.session_id
  } catch (error) {
    if (asBaxError(error).code !== 'session_not_found') throw error
    // When neither is found, report the session as missing, which is the usual case.
    const { sessions } = confirm.length > 0 ? { sessions: [] } : await ask('listRelays', {}, { signal })
    const relayed = sessions.find(({ id, name }) => id === session_id || name === session_id)
    if (relayed) return relayed.id
    throw error
  }
  throw new BaxError('session_closed', `session ${session_id} has ended`)
}
