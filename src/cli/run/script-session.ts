/** The session of a script: created or found at its start, closed at its end. */
import type { Client } from '../../client/client.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { waitForProvision } from '../session/provision.ts'
import type { EngineTools } from './call.ts'
import type { SessionFields } from './script/shape.ts'

export interface ScriptSession {
  readonly id: string
  readonly warning?: string
  /** Closes a session that was created for the script, unless the script keeps it. */
  close(signal: AbortSignal): Promise<void>
}

/** Creates or finds a session. @throws BaxError as POST /sessions, or `session_not_found`, `profile_not_found`. */
export async function openSession(
  { client, transport }: EngineTools,
  fields: Partial<SessionFields>,
  signal: AbortSignal,
): Promise<ScriptSession> {
  const { session_id, profile, keep, ...input } = fields
  if (session_id !== undefined) return { id: await findSession(client, session_id, signal), close: async () => {} }
  const profileId = profile === undefined ? undefined : await findProfile(client, profile, signal)
  const options = { headless: true, ...input, ...(profileId && { profile_id: profileId }) }
  const created = await client.createSession(options, { signal, strict: true })
  const isReady = created.status === 'ready'
  const session = isReady ? created : await waitForProvision(transport, created.provision_id!, signal)
  const id = session.session_id!
  return {
    id,
    warning: session.warning,
    close: async (cleanupSignal) => {
      if (!keep) await client.closeSession({ session_id: id }, { signal: cleanupSignal })
    },
  }
}

/** Returns the ID of the session or relayed browser with this ID or name. */
async function findSession(client: Client, session_id: string, signal: AbortSignal): Promise<string> {
  try {
    const found = await client.getSession({ session_id }, { signal })
    if (found.status === 'ready') return found.session_id
  } catch (error) {
    if (asBaxError(error).code !== 'session_not_found') throw error
    // When neither is found, report the session as missing, which is the usual case.
    const { sessions } = await client.listRelays({}, { signal })
    const relayed = sessions.find(({ id, name }) => id === session_id || name === session_id)
    if (relayed) return relayed.id
    throw error
  }
  throw new BaxError('session_closed', `session ${session_id} has ended`)
}

async function findProfile(client: Client, name: string, signal: AbortSignal): Promise<string> {
  const { profiles } = await client.listProfiles({}, { signal })
  const found = profiles.find((profile) => profile.name === name || profile.profile_id === name)
  if (found) return found.profile_id
  const hint = didYouMean(name, profiles.map((profile) => profile.name)) // prettier-ignore
  throw new BaxError('profile_not_found', `no profile is named ${JSON.stringify(name)}${hint}`)
}
