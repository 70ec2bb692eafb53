/**
 * Keys on disk, one file per key, so that processes need no lock. A file is written when its key is created and when it
 * is revoked; all processes see both at once.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Caller } from '../../core/access/caller.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { privateDir } from '../../core/state/files.ts'
import { newId } from '../../core/ids.ts'
import { keyPrefix, type Keys } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { KeyInput, CreatedKey, KeyRecord } from '../../core/shapes/keys.ts'
import {
  damageWarning,
  isAside,
  listState,
  readEach,
  readState,
  type UnusableFile,
  writeState,
} from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { endOf } from './expiry.ts'
import { newestFirst } from '../newest-first.ts'

/** Content of a key file; the key itself is never stored. */
interface KeptKey extends Omit<KeyRecord, 'status' | 'last_used_at'> {
  readonly sha256: string
}

interface Known extends KeptKey {
  readonly hash: Buffer
  readonly caller: Caller
}

export class KeyStore implements Keys {
  readonly #folder: string
  readonly #now: () => number
  readonly #log: Log
  #unreadable = false
  /** Keys stay required once any existed, even if their folder is removed. */
  #required = false
  /** Files that could not be read at the last attempt. */
  #bad: readonly UnusableFile[] = []
  readonly #lossListeners = new Set<{ readonly keyId: string; readonly onLost: () => void }>()
  #lossTimer: NodeJS.Timeout | undefined
  /** The keys as read at a modification time of the folder. */
  #cached: { readonly changedNs: bigint | undefined; readonly keys: readonly Known[] } | undefined
  /** When the use of a key was last stored, in ms since 1970. */
  readonly #useStoredAt = new Map<string, number>()

  /** Logs when the keys become unreadable, and when they are readable again. */
  constructor(stateDir: string, now: () => number = Date.now, log: Log = () => {}) {
    this.#folder = join(stateDir, 'keys')
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
    await this.#write(kept)
    return { key, ...this.#record(kept) }
  }

  async list(): Promise<KeyRecord[]> {
    return this.#known().map((key) => this.#record(key)).toSorted(newestFirst) // prettier-ignore
  }

  async revoke(idOrName: string): Promise<KeyRecord> {
    const { hash: _hash, caller: _caller, ...kept } = this.#named(idOrName)
    const revoked = { ...kept, revoked_at: kept.revoked_at ?? new Date(this.#now()).toISOString() }
    if (kept.revoked_at === null) await this.#write(revoked)
    return this.#record(revoked)
  }

  warning(): string | undefined {
    return damageWarning(stateKinds.key, this.#folder, this.#bad)
  }

  required(): boolean {
    try {
      return this.#known().length > 0 || this.#required
    } catch {
      return true
    }
  }

  check(): void {
    this.#known()
  }

  callerOf(key: string): Caller {
    const given = hashOf(key)
    let found: Known | undefined
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

  async #write(key: KeptKey): Promise<void> {
    await privateDir(join(this.#folder, 'used'))
    await writeState(join(this.#folder, `${key.key_id}.json`), key)
  }

  #named(idOrName: string): Known {
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
    const damaged = listState(this.#folder).find((name) => name.startsWith(`${idOrName}.json`))
    if (damaged !== undefined)
      return new BaxError('key_not_found', `the key ${idOrName} is damaged and grants no access: ${damaged}`)
    return new BaxError('key_not_found', `no key has the id or name ${JSON.stringify(idOrName)}`, {
      hint: 'list them with "bax key list"',
    })
  }

  #record(key: KeptKey): KeyRecord {
    const { key_id, name, scopes, created_at, expires_at, revoked_at } = key
    const status = this.#statusOf(key)
    return { key_id, name, scopes, status, created_at, expires_at, last_used_at: this.#lastUse(key_id), revoked_at }
  }

  #statusOf({ revoked_at, expires_at }: Pick<KeptKey, 'revoked_at' | 'expires_at'>): KeyRecord['status'] {
    if (revoked_at !== null) return 'revoked'
    return expires_at !== null && Date.parse(expires_at) <= this.#now() ? 'expired' : 'active'
  }

  /** Returns all keys. @throws BaxError `not_ready` when they are unreadable; only the log has the cause. */
  #known(): readonly Known[] {
    try {
      const keys = this.#current()
      if (this.#unreadable) this.#log('info', 'the keys can be read again')
      this.#unreadable = false
      return keys
    } catch (cause) {
      if (!this.#unreadable) this.#log('error', 'the keys cannot be read: every request is refused', { folder: this.#folder, cause: String(cause) }) // prettier-ignore
      this.#unreadable = true
      throw new BaxError('not_ready', 'the keys cannot be read', { cause, hint: "see the server's log" })
    }
  }

  #current(): readonly Known[] {
    const changed = statSync(this.#folder, { bigint: true, throwIfNoEntry: false })
    if (this.#cached && this.#cached.changedNs === changed?.mtimeNs) return this.#cached.keys
    const keys = changed ? this.#read() : []
    this.#required ||= keys.length > 0
    // File times are coarse: a folder that has just changed may change again within the same tick.
    const isStable = !changed || Date.now() - Number(changed.mtimeMs) > limits.keys.tickMs
    this.#cached = isStable ? { changedNs: changed?.mtimeNs, keys } : undefined
    return keys
  }

  #read(): Known[] {
    const names = readdirSync(this.#folder)
    const files = names.filter((name) => name.endsWith('.json'))
    const { good, bad } = readEach(files, (name) => readState<KeptKey>(join(this.#folder, name), stateKinds.key))
    for (const { message } of bad) this.#log('error', 'a key file is unusable and grants no access', { error: message })
    this.#bad = bad
    // Damaged keys count as keys: a server must not become public when its only key is damaged.
    this.#required ||= bad.length > 0 || names.some(isAside)
    return good.map((key) => {
      const { key_id: keyId, name, scopes } = key
      const caller = { keyId, name, scopes, admin: scopes.includes('admin') }
      return { ...key, hash: Buffer.from(key.sha256, 'hex'), caller }
    })
  }

  /** Stores the last use of a key as the time of a separate file. */
  #storeUse({ key_id: keyId }: Known): void {
    const now = this.#now()
    if (now - (this.#useStoredAt.get(keyId) ?? 0) < limits.keys.noteMs) return
    this.#useStoredAt.set(keyId, now)
    const path = this.#usePath(keyId)
    try {
      writeFileSync(path, '', { mode: 0o600 })
      utimesSync(path, now / 1000, now / 1000)
    } catch {
      // The key is valid even if the disk is full or read-only.
    }
  }

  #lastUse(keyId: string): string | null {
    const used = statSync(this.#usePath(keyId), { throwIfNoEntry: false })
    return used ? new Date(used.mtimeMs).toISOString() : null
  }

  #usePath(keyId: string): string {
    return join(this.#folder, 'used', keyId)
  }
}

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()

const refused = (message: string, hint?: string): BaxError =>
  new BaxError('unauthorized', message, hint === undefined ? {} : { hint })
