/**
 * Keys on disk, one file per key, so that processes need no lock. A file is written when its key is created and when it
 * is revoked; all processes see both at once.
 */
import { type BigIntStats, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { privateDir } from '../../core/state/files.ts'
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
import { type KeptKey, type KeyRecords, knownKey, type KnownKey } from './key-records.ts'

export class KeyFolder implements KeyRecords {
  readonly place: string
  readonly #log: Log
  #required = false
  /** Files that could not be read at the last attempt. */
  #bad: readonly UnusableFile[] = []
  /** The keys as read at a modification time of the folder. */
  #cached: { readonly changedNs: bigint | undefined; readonly keys: readonly KnownKey[] } | undefined

  constructor(stateDir: string, log: Log) {
    this.place = join(stateDir, 'keys')
    this.#log = log
  }

  /** Stays true once any key existed, even if the folder is removed. */
  get required(): boolean {
    return this.#required
  }

  all(): readonly KnownKey[] {
    const changed = this.#stat()
    if (this.#cached && this.#cached.changedNs === changed?.mtimeNs) return this.#cached.keys
    const keys = changed ? this.#read() : []
    this.#required ||= keys.length > 0
    // File times are coarse: a folder that has just changed may change again within the same tick.
    const isStable = !changed || Date.now() - Number(changed.mtimeMs) > limits.keys.tickMs
    this.#cached = isStable ? { changedNs: changed?.mtimeNs, keys } : undefined
    return keys
  }

  warning(): string | undefined {
    return damageWarning(stateKinds.key, this.place, this.#bad)
  }

  damagedNameOf(keyId: string): string | undefined {
    return listState(this.place).find((name) => name.startsWith(`${keyId}.json`))
  }

  async write(key: KeptKey): Promise<void> {
    await privateDir(join(this.place, 'used'))
    await writeState(join(this.place, `${key.key_id}.json`), key)
  }

  /** Stores the last use of a key as the time of a separate file. */
  storeUse(keyId: string, at: number): void {
    const path = this.#usePath(keyId)
    try {
      writeFileSync(path, '', { mode: 0o600 })
      utimesSync(path, at / 1000, at / 1000)
    } catch {
      // The key is valid even if the disk is full or read-only.
    }
  }

  async lastUses(keyIds: readonly string[]): Promise<(string | null)[]> {
    return keyIds.map((keyId) => {
      const used = statSync(this.#usePath(keyId), { throwIfNoEntry: false })
      return used ? new Date(used.mtimeMs).toISOString() : null
    })
  }

  /** Returns the facts of the folder; undefined if it does not exist. */
  #stat(): BigIntStats | undefined {
    try {
      return statSync(this.place, { bigint: true })
    } catch (error) {
      // Not `throwIfNoEntry`: since Node 22 it also hides ENOTDIR (https://github.com/nodejs/node/issues/56993), and a
      // folder that cannot be read would have no keys.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  #read(): KnownKey[] {
    const names = readdirSync(this.place)
    const files = names.filter((name) => name.endsWith('.json'))
    const { good, bad } = readEach(files, (name) => readState<KeptKey>(join(this.place, name), stateKinds.key))
    for (const { message } of bad) this.#log('error', 'a key file is unusable and grants no access', { error: message })
    this.#bad = bad
    // Damaged keys count as keys: a server must not become public when its only key is damaged.
    this.#required ||= bad.length > 0 || names.some(isAside)
    return good.map(knownKey)
  }

  #usePath(keyId: string): string {
    return join(this.place, 'used', keyId)
  }
}
