/** Saved profiles: one private file each, with cookies, local storage and IndexedDB; sealed where a key is set. */
import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Caller, sees } from '../../core/caller.ts'
import { BaxError } from '../../core/errors.ts'
import { writeWhole } from '../../core/files.ts'
import type { ProfileRecord } from '../../core/shapes/session.ts'
import type { StorageState } from '../browser/plan.ts'
import { isSealed, Seal } from './seal.ts'

interface ProfileFile {
  readonly profile_id: string
  readonly name: string
  /** The key that it was saved under; nobody's without keys. */
  readonly owner?: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly state: StorageState
}

const ending = '.json'

export class ProfileStore {
  readonly #folder: string
  /** Changes one after the other: a name is looked up and taken in one step. */
  #turn: Promise<unknown> = Promise.resolve()

  readonly #seal: Seal | undefined

  /** With a secret what is saved is encrypted by it; what was saved without one stays readable. */
  constructor(stateDir: string, secret?: string) {
    this.#folder = join(stateDir, 'profiles')
    this.#seal = secret === undefined ? undefined : new Seal(secret)
  }

  /** @throws BaxError `already_exists` when another profile of the caller's has the name. */
  add(name: string, state: StorageState, { keyId: owner }: Caller): Promise<ProfileRecord> {
    return this.#change(async () => {
      const all = await this.#readAll()
      if (all.some((file) => file.name === name && (file.owner ?? null) === owner)) {
        throw new BaxError('already_exists', `a profile is named ${JSON.stringify(name)} already`, {
          hint: 'choose another name, or delete that profile first',
          details: [{ path: 'name', message: 'is in use' }],
        })
      }
      const now = new Date().toISOString()
      return this.#write({ profile_id: randomUUID(), name, owner, created_at: now, updated_at: now, state })
    })
  }

  /** Replaces what a profile holds. @throws BaxError `profile_not_found`. */
  async update(profileId: string, state: StorageState): Promise<void> {
    await this.#change(async () => {
      const file = await this.#read(profileId)
      return this.#write({ ...file, updated_at: new Date().toISOString(), state })
    })
  }

  /** @throws BaxError `profile_not_found`. */
  async load(profileId: string, caller: Caller): Promise<StorageState> {
    return (await this.#seen(profileId, caller)).state
  }

  /** Newest first. */
  async list(caller: Caller): Promise<ProfileRecord[]> {
    const records = (await this.#readAll()).filter((file) => isSeen(file, caller)).map(recordOf)
    return records.toSorted((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0))
  }

  /** @throws BaxError `profile_not_found`. */
  async get(profileId: string, caller: Caller): Promise<ProfileRecord> {
    return recordOf(await this.#seen(profileId, caller))
  }

  /** @throws BaxError `profile_not_found`. */
  async delete(profileId: string, caller: Caller): Promise<void> {
    await this.#change(async () => {
      await this.#seen(profileId, caller)
      await rm(this.#path(profileId))
    })
  }

  /** @throws BaxError `profile_not_found`, also for one that is somebody else's. */
  async #seen(profileId: string, caller: Caller): Promise<ProfileFile> {
    const file = await this.#read(profileId)
    if (isSeen(file, caller)) return file
    throw notFound(profileId)
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => {})
    return done
  }

  async #write(file: ProfileFile): Promise<ProfileRecord> {
    const text = JSON.stringify(file)
    await writeWhole(this.#path(file.profile_id), (await this.#seal?.close(text, file.profile_id)) ?? text)
    return recordOf(file)
  }

  async #readAll(): Promise<ProfileFile[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const ids = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
    return Promise.all(ids.map((id) => this.#read(id)))
  }

  async #read(profileId: string): Promise<ProfileFile> {
    let text: string
    try {
      text = await readFile(this.#path(profileId), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      throw notFound(profileId)
    }
    const found = JSON.parse(text) as ProfileFile
    return isSealed(found) ? this.#unseal(found, profileId) : found
  }

  async #unseal(sealed: Parameters<Seal['open']>[0], profileId: string): Promise<ProfileFile> {
    if (this.#seal) return JSON.parse(await this.#seal.open(sealed, profileId.toLowerCase())) as ProfileFile
    throw new BaxError('profile_locked', 'a saved profile is encrypted, and no profile key is set', {
      hint: 'set BAX_PROFILE_KEY (or --profile-key-file) to the key that it was saved with',
    })
  }

  /** The id is a UUID by the schema: it cannot lead out of the folder. */
  #path(profileId: string): string {
    return join(this.#folder, `${profileId.toLowerCase()}${ending}`)
  }
}

const isSeen = ({ owner = null }: ProfileFile, caller: Caller): boolean => sees(caller, owner)

const notFound = (profileId: string): BaxError =>
  new BaxError('profile_not_found', `no profile has the id ${profileId}`, {
    hint: 'list them with `bax profile list`',
  })

function recordOf(file: ProfileFile): ProfileRecord {
  const { profile_id, name, created_at, updated_at, state } = file
  return {
    profile_id,
    name,
    cookies: state.cookies.length,
    origins: state.origins.map(({ origin }) => origin),
    bytes: Buffer.byteLength(JSON.stringify(state)),
    created_at,
    updated_at,
  }
}
