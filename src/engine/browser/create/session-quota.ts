/** What a caller has of sessions: from the moment it wishes for one to the end of that. */
import type { Quota } from '../../../core/access/quota.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { OpenedSession } from './opening.ts'
import type { Provisioning } from './provision.ts'

/** @throws BaxError `too_many_sessions` when the caller has as many as it may. */
export async function counted(
  quota: Quota,
  caller: Caller,
  make: () => Promise<OpenedSession | Provisioning>,
): Promise<OpenedSession | Provisioning> {
  const free = quota.take(caller)
  const freeAtEnd = ({ session: { ended } }: OpenedSession) => {
    if (ended.aborted) free()
    ended.addEventListener('abort', free, { once: true })
  }
  try {
    const made = await make()
    if ('provision' in made) made.session.then(freeAtEnd, free)
    else freeAtEnd(made)
    return made
  } catch (error) {
    free()
    throw error
  }
}
