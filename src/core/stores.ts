/**
 * The stores of what outlives a process. Each has two implementations: files for one machine, and Redis for a fleet
 * (`src/fleet/stores`), which all its gateways and workers share.
 */
import type { BrowserContextOptions } from 'playwright'
import type { Caller } from './access/caller.ts'
import type { Keys } from './access/keys.ts'
import type { Holder } from './access/quota.ts'
import type { Relays } from './engine.ts'
import type { RelayTokenRecord } from './shapes/relay.ts'
import type {
  CredentialInput,
  CredentialPart,
  CredentialRecord,
  CredentialSecrets,
  Passkey,
} from './access/credentials.ts'
import type { ProfileRecord } from './shapes/session.ts'

export interface Stores {
  readonly keys: Keys
  readonly profiles: ProfileStore
  readonly credentials: CredentialStore
  readonly relayTokens: RelayTokenStore
  readonly idempotency: IdempotencyStore
  /** Results of MCP calls that clients repeat. */
  readonly calls: IdempotencyStore
  readonly rates: RateLimits
  readonly versions: PageVersionStore
}

/** Cookies, local storage and IndexedDB of a browser session. */
export type StorageState = Exclude<BrowserContextOptions['storageState'], string | undefined> & {
  /** Names of the credentials whose passkeys the session uses. */
  readonly passkeys?: readonly string[]
}

export interface ProfileStore {
  /** Saves a new profile. @throws BaxError `already_exists` when another profile of the caller has the name. */
  add(name: string, state: StorageState, caller: Caller): Promise<ProfileRecord>
  /** Changes the state of a profile; no other change comes in between. @throws BaxError `profile_not_found`. */
  update(profileId: string, change: (state: StorageState) => StorageState): Promise<void>
  /** Returns the ID and the state of a profile. @throws BaxError `profile_not_found`. */
  load(idOrName: string, caller: Caller): Promise<{ readonly profile_id: string; readonly state: StorageState }>
  /**
   * Lists the profiles visible to the caller, newest first. `onUnreadable` receives a warning about those that are
   * damaged or that another profile key has encrypted, with their IDs for admins. @throws BaxError `profile_locked` if
   * no profile can be decrypted.
   */
  list(caller: Caller, onUnreadable?: (warning: string) => void): Promise<ProfileRecord[]>
  /** Returns the record of a profile. @throws BaxError `profile_not_found`. */
  get(idOrName: string, caller: Caller): Promise<ProfileRecord>
  /** Deletes a profile, for admins also one that cannot be read, by its ID. @throws BaxError `profile_not_found`. */
  delete(idOrName: string, caller: Caller): Promise<void>
}

/** The values of a credential; they never leave the engine. */
export interface Credential extends Pick<CredentialSecrets, CredentialPart> {
  readonly name: string
  /** Origins of the only frames that get its values. */
  readonly origins: readonly string[]
  /** Undefined if pages may not create any. */
  readonly passkeys?: readonly Passkey[]
}

/** A credential for a page. */
export interface UsableCredential extends Credential {
  /** Stores a passkey that a page has created, or its number of uses. @throws BaxError `credential_not_found` */
  keepPasskey(passkey: Passkey): Promise<void>
}

/** Credentials of callers: each sees only those that its own key has stored. */
export interface CredentialStore {
  /**
   * @throws BaxError `already_exists` when another credential of the caller has the name, `rate_limited` when it has too
   * many, `invalid_request`.
   */
  add(input: CredentialInput, caller: Caller): Promise<CredentialRecord>
  /**
   * Lists the caller's credentials by name; reports those that are damaged or cannot be decrypted.
   * @throws BaxError `credential_locked` when none can be decrypted
   */
  list(caller: Caller, onUnreadable?: (warning: string) => void): Promise<CredentialRecord[]>
  /** Replaces the given secrets. @throws BaxError `credential_not_found`, `credential_locked` */
  rotate(name: string, secrets: CredentialSecrets, caller: Caller): Promise<CredentialRecord>
  /** Admins delete a damaged credential by its ID too. @throws BaxError `credential_not_found` */
  delete(name: string, caller: Caller): Promise<void>
  /** Returns the values, for a page. @throws BaxError `credential_not_found`, `credential_locked`, `rate_limited` */
  use(name: string, caller: Pick<Caller, 'keyId'>): Promise<UsableCredential>
}

/** A version of a page, for the format changeTracking. */
export interface PageVersion {
  /** Time at which it was scraped. */
  readonly at: string
  /** HTTP status. */
  readonly status: number
  readonly markdown: string
  /** ID of the crawl that scraped it, and the version before that crawl. */
  readonly run?: string
  readonly before?: PageVersion
}

export interface PageVersionKey {
  /** ID of the caller's key; null without keys. */
  readonly owner: string | null
  /** Hash of the URL, the tag, and the options of the page. */
  readonly page: string
}

/** The latest version of each page of each caller; the oldest ones are deleted when a caller has too many. */
export interface PageVersionStore {
  /** @throws BaxError `engine_failed` for a damaged version, which is then forgotten. */
  find(key: PageVersionKey): Promise<PageVersion | undefined>
  save(key: PageVersionKey, version: PageVersion): Promise<void>
}

/** Credentials of a connector; only the same ones may resume its session. */
export interface Principal {
  /** ID of the token or key; null within one process. */
  readonly tokenId: string | null
  /** Key that owns it; null where no keys are in use. */
  readonly owner: string | null
  readonly transport: 'ws' | 'local'
  /** Whether its single-use token was used before, so that it can only resume its session. */
  readonly onlyResumes: boolean
}

export interface RelayTokenStore {
  /** Returns the key that owns a token (null where no keys are in use), without using it; undefined for an invalid one. */
  ownerOf(token: string): Promise<string | null | undefined>
  create(input: Parameters<Relays['tokens']['create']>[0], caller: Caller): ReturnType<Relays['tokens']['create']>
  /** Lists tokens without their secrets, newest first; expired ones are omitted. */
  list(caller: Caller): Promise<RelayTokenRecord[]>
  /** @throws BaxError `token_not_found`, also for tokens of other keys. */
  revoke(tokenId: string, caller: Caller): Promise<void>
  /**
   * Verifies a token. A single-use token connects one browser, and afterwards can only resume its session.
   * @throws BaxError `unauthorized`, with the same message for every reason.
   */
  admit(token: string): Promise<Principal>
  /** Calls `listener` with the ID of every token that is revoked, wherever that happens; replaces the listener before. */
  onRevoked(listener: (tokenId: string) => void): void
}

/** A request with an `Idempotency-Key` header; without the header it always runs. */
export interface IdempotencyKey {
  readonly operation: string
  readonly caller: Caller
  readonly headers: Headers
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Called when there is an earlier request with the key, before its result is waited for. */
  readonly onFound?: (() => void) | undefined
}

/** Lifetime of results in a store, and their number for one caller. */
export interface KeepLimits {
  readonly keepMs: number
  readonly kept: number
}

export interface IdempotencyStore {
  /**
   * Runs the work, or returns its earlier result for the same key and input, also while it still runs. Errors are not
   * kept.
   * @throws BaxError `conflict` when the key was used with another input, `invalid_request` for a key that is too long.
   */
  once<T>(key: IdempotencyKey, input: unknown, work: () => Promise<T>): Promise<T>
}

export interface RateStatus {
  readonly allowed: boolean
  readonly rate: number
  readonly burst: number
  /** Requests left in the current burst. */
  readonly remaining: number
  /** Seconds until the full burst is available again. */
  readonly resetSecs: number
  /** Seconds until the next request is allowed. */
  readonly retrySecs: number
}

export interface RateLimits {
  /**
   * Counts one request or use; returns undefined for callers without a limit. In one process it returns at once.
   * @throws BaxError `fleet_unavailable`
   */
  count(caller: Holder): RateStatus | undefined | Promise<RateStatus | undefined>
}
