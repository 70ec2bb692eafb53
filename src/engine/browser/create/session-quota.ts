/** Session quota of a caller: counts each session from its request to its end. */
import type { Quota } from '../../../core/access/quota.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { OpenedSession } from './opening.ts'
import type { Provisioning } from './provision.ts'

/** Counts the session that `make` creates. @throws BaxError `too_many_sessions` when the quota is used up. */
export async function withQuota(
  quota: Quota,
  caller: Caller,
  make: () => Promise<OpenedSession | Provisioning>,
): Promise<OpenedSession | Provisioning> {
  const release = quota.take(caller)
  const releaseAtEnd = ({ session: { ended } }: OpenedSession) => {
    if (ended.aborted) release()
    ended.addEventListener('abort', release, { once: true })
  }
  try {
    const created = await make()
    if ('provision' in created) created.session.then(releaseAtEnd, release)
    else releaseAtEnd(created)
    return created
  } catch (error) {
    release()
    throw error
  }
}
