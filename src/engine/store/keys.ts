/**
 * Keys on disk: a file each, so that processes need no lock between them. A file is written when its key is made and
 * when it is revoked; whoever asks sees both at once, whichever process did it.
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
import type { KeyInput, KeyMade, KeyRecord } from '../../core/shapes/keys.ts'
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

/** What a file holds; the key itself is nowhere. */
interface KeptKey extends Omit<KeyRecord, 'status' | 'last_used_at'> {
  readonly sha256: string
}

interface Known extends KeptKey {
  readonly hash: Buffer
  readonly caller: Caller
}

/** The keys as they were when the folder had this time. */
interface Look {
  readonly changedNs: bigint | undefined
  readonly keys: readonly Known[]
}

/** Something that ends with its key. */
interface Watched {
  readonly keyId: string
  readonly tell: () => void
}

export class KeyStore implements Keys {
  readonly #folder: string
  readonly #now: () => number
  readonly #log: Log
  #unreadable = false
  /** Whoever has asked for keys once goes on asking for them, though their folder be removed. */
  #required = false
  /** Files that could not be read the last time. */
  #bad: readonly UnusableFile[] = []
  readonly #watched = new Set<Watched>()
  #watching: NodeJS.Timeout | undefined
  #look: Look | undefined
  /** When the use of a key was last written down, in ms since 1970. */
  readonly #noted = new Map<string, number>()

  /** `log` is told when the keys cannot be read, and when they can be again. */
  constructor(stateDir: string, now: () => number = Date.now, log: Log = () => {}) {
    this.#folder = join(stateDir, 'keys')
    this.#now = now
    this.#log = log
  }

  async create({ name, scopes, expires }: KeyInput): Promise<KeyMade> {
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
    return this.#known()
      .map((key) => this.#record(key))
      .toSorted((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0))
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
    // All are compared, so that the time tells nothing.
    for (const known of this.#known()) if (timingSafeEqual(known.hash, given)) found = known
    if (!found) throw refused('the key is not known here', 'see `bax key list`')
    const status = this.#statusOf(found)
    if (status !== 'active') throw refused(`the key has ${status === 'expired' ? 'expired' : 'been revoked'}`)
    this.#note(found)
    return found.caller
  }

  isGood(keyId: string | null): boolean {
    if (keyId === null) return true
    const key = this.#known().find(({ key_id: id }) => id === keyId)
    return key !== undefined && this.#statusOf(key) === 'active'
  }

  whenLost(keyId: string | null, tell: () => void, signal: AbortSignal): void {
    if (keyId === null || signal.aborted) return
    if (!this.isGood(keyId)) return tell()
    const watched = { keyId, tell }
    this.#watched.add(watched)
    signal.addEventListener('abort', () => this.#watched.delete(watched), { once: true })
    this.#watching ??= setInterval(() => this.#tellLost(), limits.keys.lookMs).unref()
  }

  #tellLost(): void {
    for (const watched of this.#watched) {
      if (this.#isLost(watched.keyId)) {
        this.#watched.delete(watched)
        watched.tell()
      }
    }
    if (this.#watched.size > 0) return
    clearInterval(this.#watching)
    this.#watching = undefined
  }

  /** A folder that cannot be read now says nothing; requests are refused meanwhile. */
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
      hint: `name the one by its id: ${named.map(({ key_id }) => key_id).join(', ')}`,
    })
  }

  #unknown(idOrName: string): BaxError {
    const damaged = listState(this.#folder).find((name) => name.startsWith(`${idOrName}.json`))
    if (damaged !== undefined)
      return new BaxError('key_not_found', `the key ${idOrName} is damaged (${damaged}): it lets nobody in`)
    return new BaxError('key_not_found', `no key has the id or name ${JSON.stringify(idOrName)}`, {
      hint: 'list them with `bax key list`',
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

  /** @throws BaxError `not_ready`; why, only the log is told. */
  #known(): readonly Known[] {
    try {
      const keys = this.#current()
      if (this.#unreadable) this.#log('info', 'the keys can be read again')
      this.#unreadable = false
      return keys
    } catch (cause) {
      if (!this.#unreadable) this.#log('error', 'the keys cannot be read: every request is refused', { folder: this.#folder, cause: String(cause) }) // prettier-ignore
      this.#unreadable = true
      throw new BaxError('not_ready', 'the keys cannot be read', { cause, hint: "the server's log says why" })
    }
  }

  #current(): readonly Known[] {
    const changed = statSync(this.#folder, { bigint: true, throwIfNoEntry: false })
    const look = this.#look
    if (look && look.changedNs === changed?.mtimeNs) return look.keys
    const keys = changed ? this.#read() : []
    this.#required ||= keys.length > 0
    // The clock of a file system is coarse: a folder that has just changed may change again within the same tick.
    const settled = !changed || Date.now() - Number(changed.mtimeMs) > limits.keys.tickMs
    this.#look = settled ? { changedNs: changed?.mtimeNs, keys } : undefined
    return keys
  }

  #read(): Known[] {
    const names = readdirSync(this.#folder)
    const files = names.filter((name) => name.endsWith('.json'))
    const { good, bad } = readEach(files, (name) => readState<KeptKey>(join(this.#folder, name), stateKinds.key))
    for (const { message } of bad) this.#log('error', 'a key lets nobody in', { error: message })
    this.#bad = bad
    // Damaged keys count as keys: without its only one a server must not open to everybody.
    this.#required ||= bad.length > 0 || names.some(isAside)
    return good.map((key) => {
      const { key_id: keyId, name, scopes } = key
      const caller = { keyId, name, scopes, admin: scopes.includes('admin') }
      return { ...key, hash: Buffer.from(key.sha256, 'hex'), caller }
    })
  }

  /** A file's time says when a key was last used; another file than the key's, which only its maker writes. */
  #note({ key_id: keyId }: Known): void {
    const now = this.#now()
    if (now - (this.#noted.get(keyId) ?? 0) < limits.keys.noteMs) return
    this.#noted.set(keyId, now)
    const path = this.#usePath(keyId)
    try {
      writeFileSync(path, '', { mode: 0o600 })
      utimesSync(path, now / 1000, now / 1000)
    } catch {
      // A full disk, or one that is read only: the key is good all the same.
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
