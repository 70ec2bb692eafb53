/** API keys, which callers send where a service is not its user's alone. */
import type { Caller } from './caller.ts'
import type { KeyInput, CreatedKey, KeyRecord } from '../shapes/keys.ts'

/** Prefix of every key, which distinguishes keys from tokens. */
export const keyPrefix = 'bax_'

/** Access checks of the server. */
export interface KeyRing {
  /** Whether callers must send a key: true from the first key ever created, and while the keys cannot be read. */
  required(): boolean
  /** Checks that the keys can be read. @throws BaxError `not_ready` otherwise: no caller is admitted then. */
  check(): void
  /** @throws BaxError `unauthorized` for an unknown, expired or revoked key. */
  callerOf(key: string): Caller
  /** Whether the resources of a key may still be used; always true for unowned resources. */
  isGood(keyId: string | null): boolean
  /** Calls `listener` once when the key becomes invalid, at once or within a second, until `signal` aborts. */
  whenLost(keyId: string | null, listener: () => void, signal: AbortSignal): void
}

export interface Keys extends KeyRing {
  /** @throws BaxError `invalid_request` for an expiry that is invalid or in the past. */
  create(input: KeyInput): Promise<CreatedKey>
  /** All keys ever created, newest first. */
  list(): Promise<KeyRecord[]>
  /** A warning that names the unreadable key files, whose keys are therefore rejected. */
  warning(): string | undefined
  /** Revokes a key by its ID or unique name, unless already revoked. @throws BaxError `key_not_found`, `conflict`. */
  revoke(idOrName: string): Promise<KeyRecord>
}
