/** Records of keys, and the interface of where they are kept: a folder, or the Redis of a fleet. */
import type { Caller } from '../../core/access/caller.ts'
import type { KeyRecord } from '../../core/shapes/keys.ts'

/** Stored record of a key; the key itself is never stored. */
export interface KeptKey extends Omit<KeyRecord, 'status' | 'last_used_at'> {
  readonly sha256: string
}

export interface KnownKey extends KeptKey {
  readonly hash: Buffer
  readonly caller: Caller
}

/** Storage of keys. */
export interface KeyRecords {
  /** Location for the log. */
  readonly place: string
  /** Whether keys are required: true once any key existed, even a damaged one. */
  readonly required: boolean
  /** Returns all readable keys, from a copy that is current. @throws if they cannot be read. */
  all(): readonly KnownKey[]
  /** Updates the copy, where keys change without notice. */
  refresh?(): Promise<void>
  /** Names unreadable records, whose keys are rejected. */
  warning(): string | undefined
  /** Returns the name of the damaged record of a key. */
  damagedNameOf(keyId: string): string | undefined
  write(key: KeptKey): Promise<void>
  /** Stores when a key was last used, in milliseconds since 1970; failures are ignored. */
  storeUse(keyId: string, at: number): void
  /** Returns when each key was last used. */
  lastUses(keyIds: readonly string[]): Promise<(string | null)[]>
}

/** Adds what checks of callers need. */
export function knownKey(key: KeptKey): KnownKey {
  const { key_id: keyId, name, scopes } = key
  const caller = { keyId, name, scopes, admin: scopes.includes('admin') }
  return { ...key, hash: Buffer.from(key.sha256, 'hex'), caller }
}
