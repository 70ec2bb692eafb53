/** Copies keys, profiles and relay tokens of a state folder to the Redis of a fleet. */
import type { Redis } from 'ioredis'
import { encodeRecord } from '../../core/state/state-record.ts'
import type { StoredToken } from '../../engine/relay/hub/tokens.ts'
import { isEncrypted } from '../../engine/store/encryption.ts'
import { decodedKey, storedKey, storeKey } from '../stores/keys.ts'
import { storedProfile, storeProfile } from '../stores/profiles.ts'
import { storedToken, storeToken } from '../stores/relay-tokens.ts'
import { type DamagedFile, readStateDir } from './read-state.ts'

export interface ImportOptions {
  readonly redis: Redis
  readonly stateDir: string
  /** Whether to replace what Redis already has under the same ID. */
  readonly overwrite: boolean
}

interface ImportCounts {
  readonly imported: number
  readonly replaced: number
  /** Records that Redis already has with the same content. */
  readonly unchanged: number
  readonly skipped: readonly { readonly id: string; readonly why: string }[]
  readonly damaged: readonly DamagedFile[]
}

export interface ImportReport {
  readonly keys: ImportCounts
  readonly profiles: ImportCounts
  readonly relay_tokens: ImportCounts
  /** Number of profiles in the folder that are not encrypted. */
  readonly unencrypted_profiles: number
}

/** @throws BaxError `fleet_unavailable`; what was copied before stays, and the next run continues. */
export async function importState({ redis, stateDir, overwrite }: ImportOptions): Promise<ImportReport> {
  const { keys, profiles, tokens } = readStateDir(stateDir)
  return {
    keys: await copyAll(keys, overwrite, (key) => ({
      id: key.key_id,
      record: encodeRecord(key),
      stored: () => storedKey(redis, key.key_id),
      store: (keepExisting) => storeKey(redis, key, keepExisting),
      // A key stays revoked.
      refusal: (stored) =>
        key.revoked_at === null && decodedKey(key.key_id, stored)?.revoked_at ? 'is revoked in Redis' : undefined,
    })),
    profiles: await copyAll(profiles, overwrite, (profile) => ({
      id: profile.id,
      record: encodeRecord(profile.stored),
      stored: () => storedProfile(redis, profile.id),
      store: (keepExisting) => storeProfile(redis, profile, keepExisting),
    })),
    relay_tokens: await copyAll(tokens, overwrite, (token) => ({
      id: token.token_id,
      record: encodeRecord(token),
      stored: () => storedToken(redis, token.sha256),
      store: (keepExisting) => storeToken(redis, token, keepExisting),
      refusal: () => (isExpired(token) ? 'has expired' : undefined),
    })),
    unencrypted_profiles: profiles.good.filter(({ stored }) => !isEncrypted(stored)).length,
  }
}

const isExpired = ({ expires_at: end }: StoredToken): boolean => Date.parse(end) <= Date.now()

interface Copy {
  readonly id: string
  readonly record: string
  /** Returns the text of the record that Redis has. */
  stored(): Promise<string | null>
  /** Writes the record; returns false if there is one and it must be kept. */
  store(keepExisting: boolean): Promise<boolean>
  /** Returns why the record must not be written. */
  refusal?(stored: string): string | undefined
}

async function copyAll<Content>(
  { good, damaged }: { readonly good: readonly Content[]; readonly damaged: readonly DamagedFile[] },
  overwrite: boolean,
  copyOf: (content: Content) => Copy,
): Promise<ImportCounts> {
  const counts = { imported: 0, replaced: 0, unchanged: 0, skipped: [] as { id: string; why: string }[], damaged }
  for (const content of good) {
    const { id, record, ...copy } = copyOf(content)
    const stored = await copy.stored()
    const why = copy.refusal?.(stored ?? '')
    if (stored === record) counts.unchanged += 1
    else if (why !== undefined) counts.skipped.push({ id, why })
    else if (await copy.store(!overwrite)) counts[stored === null ? 'imported' : 'replaced'] += 1
    else counts.skipped.push({ id, why: 'differs in Redis; pass --overwrite to replace it' })
  }
  return counts
}
