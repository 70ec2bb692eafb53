/** Cookies and storage of a session, and the profile that they are saved to. */
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { passkeyUseOf } from '../credentials/passkey-use.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import type { ProfileStore, StorageState } from '../../../core/stores.ts'
import type { LiveSession } from '../ports/session.ts'

/** Reads the cookies, local storage and IndexedDB of a session, and the credentials whose passkeys it uses. */
export async function readStorage({ browserContext }: Pick<LiveSession, 'browserContext'>): Promise<StorageState> {
  const work = browserContext.storageState({ indexedDB: true })
  const state = await withDeadline(work, { ms: limits.session.storageMs, error: 'its pages did not answer' })
  const passkeys = passkeyUseOf(browserContext).names
  return { ...state, ...(passkeys.length > 0 && { passkeys }) }
}

/**
 * Waits until new passkeys are stored, and updates the profile of a session that asked for it; a failure is logged,
 * since it must not keep the session open.
 */
export async function saveProfile(
  session: LiveSession,
  { profiles, config }: { profiles: Pick<ProfileStore, 'update'>; config: Pick<EngineConfig, 'log'> },
): Promise<void> {
  await passkeyUseOf(session.browserContext).stored()
  const { profile_id: profileId, save_profile: shouldSave } = session.input
  if (!shouldSave || profileId === undefined) return
  try {
    const state = await readStorage(session)
    await profiles.update(profileId, () => state)
  } catch (error) {
    const { code, message: reason } = toBaxError(error, 'reading its storage')
    const message = `the profile was not saved: ${reason}`
    session.events.emit('error', { code, message })
    config.log('warn', message, { session: session.sessionId, profile: profileId })
  }
}
