/** The session of a script: made or found when it begins, closed when it ends. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Addressed, call, type Client } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { asBaxError, BaxError, type ErrorBody } from '../../core/errors/errors.ts'
import { pathFields } from '../../core/operation/operation.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import type { SessionFields } from './script/shape.ts'

export interface OwnSession {
  readonly id: string
  /** What the engine said when it was made. */
  readonly warning?: string
  /** Closes a session that was made here, unless the script keeps it. */
  close(signal: AbortSignal): Promise<void>
}

/** @throws BaxError as POST /sessions, or `session_not_found`, `profile_not_found`. */
export async function openSession(
  client: Client,
  fields: Partial<SessionFields>,
  signal: AbortSignal,
): Promise<OwnSession> {
  const { session_id, profile, keep, ...input } = fields
  if (session_id !== undefined) {
    return { id: await foundId(client, session_id, signal), close: async () => {} }
  }
  const profileId = profile === undefined ? undefined : await profileNamed(client, profile, signal)
  const wanted = { headless: true, ...input, ...(profileId && { profile_id: profileId }) }
  const { id, warning } = await create(client, wanted, signal)
  return {
    id,
    ...(warning && { warning }),
    close: async (lateSignal) => {
      if (!keep) await client.closeSession({ session_id: id }, { signal: lateSignal })
    },
  }
}

/** The id of a session, or of a browser of the relay, that goes by this id or name. */
async function foundId(client: Client, session_id: string, signal: AbortSignal): Promise<string> {
  try {
    const found = await client.getSession({ session_id }, { signal })
    if (found.status === 'ready') return found.session_id
  } catch (error) {
    if (asBaxError(error).code !== 'session_not_found') throw error
    // What is neither is told of as a session: that is the usual case.
    const { sessions } = await client.listRelays({}, { signal })
    const relayed = sessions.find(({ id, name }) => id === session_id || name === session_id)
    if (relayed) return relayed.id
    throw error
  }
  throw new BaxError('session_closed', `session ${session_id} has ended`)
}

/** Stops a shell that a step has made. */
export async function stopShell(
  transport: Transport,
  operations: readonly Addressed[],
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const found = operations.find(({ http }) => /^DELETE \/shell\/sessions\/\{\w+\}$/.test(http))
  if (!found) return
  const [field] = pathFields(found.http)
  await call(transport, found.http, { [field!]: id }, { signal })
}

async function create(
  client: Client,
  input: Partial<SessionFields>,
  signal: AbortSignal,
): Promise<{ id: string; warning?: string }> {
  const made = await client.createSession(input, { signal, strict: true })
  if (made.status === 'ready') return { id: made.session_id!, ...(made.warning && { warning: made.warning }) }
  const provision_id = made.provision_id!
  try {
    for (;;) {
      const record = await client.pollProvision({ provision_id }, { signal })
      if (record.status === 'ready')
        return { id: record.session_id!, ...(record.warning && { warning: record.warning }) }
      if (record.status !== 'provisioning') {
        const body: Partial<ErrorBody> = { error: record.error ?? `the provisioning was ${record.status}` }
        throw BaxError.fromBody(record.code ? { ...body, code: record.code } : body, 'no_capacity')
      }
      await pause(record.retry_after_ms, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) await client.cancelProvision({ provision_id })
    throw error
  }
}

async function profileNamed(client: Client, name: string, signal: AbortSignal): Promise<string> {
  const { profiles } = await client.listProfiles({}, { signal })
  const found = profiles.find((profile) => profile.name === name || profile.profile_id === name)
  if (found) return found.profile_id
  const hint = didYouMean(name, profiles.map((profile) => profile.name)) // prettier-ignore
  throw new BaxError('profile_not_found', `no profile is named ${JSON.stringify(name)}${hint}`)
}
