/** Which passkeys a session uses, for its profile and its end; `passkeys.ts` is loaded with the first one. */
import type { BrowserContext } from 'playwright'
import { oncePer } from '../../../core/once-per.ts'

/** Returns the use of passkeys in the session that a context belongs to. */
export const passkeyUseOf = oncePer<BrowserContext, PasskeyUse>(() => new PasskeyUse())

class PasskeyUse {
  readonly #writes = new Set<Promise<void>>()
  /** Names of the credentials, the one used last at the end. */
  names: readonly string[] = []
  /** Opens the authenticators again that Chromium has removed; undefined until a passkey is used. */
  restore: (() => Promise<void>) | undefined

  /** Keeps the session open until a change of a credential, which never fails, is stored. */
  track(write: Promise<void>): void {
    this.#writes.add(write)
    void write.then(() => this.#writes.delete(write))
  }

  async stored(): Promise<void> {
    await Promise.all(this.#writes)
  }
}
