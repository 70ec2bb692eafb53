/** Keys that callers show where a service is not its user's alone. */
import type { Caller } from './caller.ts'
import type { KeyInput, KeyMade, KeyRecord } from '../shapes/keys.ts'

/** Every key begins so, which is how one is told from a token. */
export const keyPrefix = 'bax_'

/** Who may come in, as the gate asks. */
export interface KeyRing {
  /** Whether callers must show a key: from the first one that is made, whatever becomes of it, and while nobody can tell. */
  required(): boolean
  /** @throws BaxError `not_ready` while the keys cannot be read: nobody is let in then. */
  check(): void
  /** @throws BaxError `unauthorized` for one that is unknown, expired or revoked. */
  callerOf(key: string): Caller
  /** Whether what belongs to a key may still be used; always so of what no key owns. */
  isGood(keyId: string | null): boolean
  /** Calls `tell` once when the key is good no longer, at once or within a second; until `signal` aborts. */
  whenLost(keyId: string | null, tell: () => void, signal: AbortSignal): void
}

export interface Keys extends KeyRing {
  /** @throws BaxError `invalid_request` for an end that cannot be read or has been. */
  create(input: KeyInput): Promise<KeyMade>
  /** All that were ever made, the newest first. */
  list(): Promise<KeyRecord[]>
  /** Names the files of keys that cannot be read, and therefore let nobody in. */
  warning(): string | undefined
  /** By id, or by a name that one key has; does nothing for one that is revoked. @throws BaxError `key_not_found`, `conflict`. */
  revoke(idOrName: string): Promise<KeyRecord>
}
