/** Keys: creates and revokes them, and checks callers, on the records that `key-folder.ts` or a fleet keeps. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import { keyPrefix, type Keys } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { KeyInput, CreatedKey, KeyRecord } from '../../core/shapes/keys.ts'
import { endOf } from './expiry.ts'
import { KeyFolder } from './key-folder.ts'
import type { KeptKey, KeyRecords, KnownKey } from './key-records.ts'
import { newestFirst } from '../../core/newest-first.ts'

export class StoredKeys implements Keys {
  readonly #records: KeyRecords
  readonly #now: () => number
  readonly #log: Log
  #unreadable = false
  readonly #lossListeners = new Set<{ readonly keyId: string; readonly onLost: () => void }>()
  #lossTimer: NodeJS.Timeout | undefined
  /** When the use of a key was last stored, in ms since 1970. */
  readonly #useStoredAt = new Map<string, number>()

  /** Logs when the keys become unreadable, and when they are readable again. */
  constructor(records: KeyRecords, now: () => number = Date.now, log: Log = () => {}) {
    this.#records = records
    this.#now = now
    this.#log = log
  }

  async create({ name, scopes, expires }: KeyInput): Promise<CreatedKey> {
    const now = this.#now()
    const expiresAt = expires === undefined ? null : endOf(expires, now)
    const key = `${keyPrefix}${randomBytes(32).toString('base64url')}`
    const kept: KeptKey = {
      key_id: newId('key'),
      name,
      scopes: [...new Set(scopes)],
      created_at: new Date(now).toISOString(),
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      revoked_at: null,
      sha256: hashOf(key).toString('hex'),
    }
    await this.#records.write(kept)
    return { key, ...this.#record(kept, null) }
  }

  async list(): Promise<KeyRecord[]> {
    await this.#records.refresh?.()
    const keys = this.#known()
    const uses = await this.#records.lastUses(keys.map(({ key_id }) => key_id))
    return keys.map((key, at) => this.#record(key, uses[at]!)).toSorted(newestFirst)
  }

  async revoke(idOrName: string): Promise<KeyRecord> {
    await this.#records.refresh?.()
    const { hash: _hash, caller: _caller, ...kept } = this.#named(idOrName)
    const revoked = { ...kept, revoked_at: kept.revoked_at ?? new Date(this.#now()).toISOString() }
    if (kept.revoked_at === null) await this.#records.write(revoked)
    const [lastUse] = await this.#records.lastUses([kept.key_id])
    return this.#record(revoked, lastUse!)
  }

  warning(): string | undefined {
    return this.#records.warning()
  }

  required(): boolean {
    try {
      this.#known()
      return this.#records.required
    } catch {
      return true
    }
  }

  check(): void {
    this.#known()
  }

  callerOf(key: string): Caller {
    const given = hashOf(key)
    let found: KnownKey | undefined
    // Compare with all keys, so that the time reveals nothing.
    for (const known of this.#known()) if (timingSafeEqual(known.hash, given)) found = known
    if (!found) throw refused('unknown key', 'run "bax key list" to see the keys')
    const status = this.#statusOf(found)
    if (status !== 'active') throw refused(`the key has ${status === 'expired' ? 'expired' : 'been revoked'}`)
    this.#storeUse(found)
    return found.caller
  }

  isGood(keyId: string | null): boolean {
    if (keyId === null) return true
    const key = this.#known().find(({ key_id: id }) => id === keyId)
    return key !== undefined && this.#statusOf(key) === 'active'
  }

  whenLost(keyId: string | null, onLost: () => void, signal: AbortSignal): void {
    if (keyId === null || signal.aborted) return
    if (!this.isGood(keyId)) return onLost()
    const listener = { keyId, onLost }
    this.#lossListeners.add(listener)
    signal.addEventListener('abort', () => this.#lossListeners.delete(listener), { once: true })
    this.#lossTimer ??= setInterval(() => this.#emitLosses(), limits.keys.checkMs).unref()
  }

  #emitLosses(): void {
    for (const listener of this.#lossListeners) {
      if (this.#isLost(listener.keyId)) {
        this.#lossListeners.delete(listener)
        listener.onLost()
      }
    }
    if (this.#lossListeners.size > 0) return
    clearInterval(this.#lossTimer)
    this.#lossTimer = undefined
  }

  /** Returns whether a key is lost; not while the folder is unreadable, when requests are refused anyway. */
  #isLost(keyId: string): boolean {
    try {
      return !this.isGood(keyId)
    } catch {
      return false
    }
  }

  #named(idOrName: string): KnownKey {
    const keys = this.#known()
    const one = keys.find(({ key_id }) => key_id === idOrName)
    if (one) return one
    const named = keys.filter(({ name, revoked_at }) => name === idOrName && revoked_at === null)
    if (named.length === 1) return named[0]!
    if (named.length === 0) throw this.#unknown(idOrName)
    throw new BaxError('conflict', `${named.length} keys are named ${JSON.stringify(idOrName)}`, {
      hint: `use its id: ${named.map(({ key_id }) => key_id).join(', ')}`,
    })
  }

  #unknown(idOrName: string): BaxError {
    const damaged = this.#records.damagedNameOf(idOrName)
    if (damaged !== undefined)
      return new BaxError('key_not_found', `the key ${idOrName} is damaged and grants no access: ${damaged}`)
    return new BaxError('key_not_found', `no key has the id or name ${JSON.stringify(idOrName)}`, {
      hint: 'list them with "bax key list"',
    })
  }

  #record(key: KeptKey, last_used_at: string | null): KeyRecord {
    const { key_id, name, scopes, created_at, expires_at, revoked_at } = key
    const status = this.#statusOf(key)
    return { key_id, name, scopes, status, created_at, expires_at, last_used_at, revoked_at }
  }

  #statusOf({ revoked_at, expires_at }: Pick<KeptKey, 'revoked_at' | 'expires_at'>): KeyRecord['status'] {
    if (revoked_at !== null) return 'revoked'
    return expires_at !== null && Date.parse(expires_at) <= this.#now() ? 'expired' : 'active'
  }

  /** Returns all keys. @throws BaxError `not_ready` when they are unreadable; only the log has the cause. */
  #known(): readonly KnownKey[] {
    try {
      const keys = this.#records.all()
      if (this.#unreadable) this.#log('info', 'the keys can be read again')
      this.#unreadable = false
      return keys
    } catch (cause) {
      if (!this.#unreadable)
        this.#log('error', 'the keys cannot be read: every request is refused', {
          place: this.#records.place,
          cause: String(cause),
        })
      this.#unreadable = true
      throw new BaxError('not_ready', 'the keys cannot be read', { cause, hint: "see the server's log" })
    }
  }

  #storeUse({ key_id: keyId }: KnownKey): void {
    const now = this.#now()
    if (now - (this.#useStoredAt.get(keyId) ?? 0) < limits.keys.noteMs) return
    this.#useStoredAt.set(keyId, now)
    this.#records.storeUse(keyId, now)
  }
}

/** Keys on disk. */
export class KeyStore extends StoredKeys {
  constructor(stateDir: string, now: () => number = Date.now, log: Log = () => {}) {
    super(new KeyFolder(stateDir, log), now, log)
  }
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()

const refused = (message: string, hint?: string): BaxError =>
  new BaxError('unauthorized', message, hint === undefined ? {} : { hint })
