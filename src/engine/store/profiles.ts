/** Saved profiles: one private file each, with cookies, local storage and IndexedDB; sealed where a key is set. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Caller, sees } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { ProfileRecord } from '../../core/shapes/session.ts'
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
import type { StorageState } from '../browser/create/plan.ts'
import { isSealed, Seal, type Sealed } from './seal.ts'

interface ProfileFile {
  readonly profile_id: string
  readonly name: string
  /** The key that it was saved under; nobody's without keys. */
  readonly owner?: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly state: StorageState
}

/** A profile as it is on disk. */
type Kept = ProfileFile | Sealed

const ending = '.json'

export class ProfileStore {
  readonly #folder: string
  /** Changes one after the other: a name is looked up and taken in one step. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #seal: Seal | undefined
  /** Files that could not be read the last time all were. */
  #bad: readonly UnusableFile[] = []

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

  /** Names damaged files, whose owners are unknown, to callers who see all profiles. */
  warning({ admin }: Caller): string | undefined {
    return admin ? damageWarning(stateKinds.profile, this.#folder, this.#bad) : undefined
  }

  /** @throws BaxError `profile_not_found`. */
  async get(profileId: string, caller: Caller): Promise<ProfileRecord> {
    return recordOf(await this.#seen(profileId, caller))
  }

  /** Deletes a profile; of a damaged one, whose owner is unknown, only for callers who see all. @throws BaxError `profile_not_found`. */
  async delete(profileId: string, caller: Caller): Promise<void> {
    await this.#change(async () => {
      try {
        await this.#seen(profileId, caller)
      } catch (error) {
        if (!caller.admin || (await this.#deleteAside(profileId)) === 0) throw error
        return
      }
      await rm(this.#path(profileId))
    })
  }

  /** Deletes what was moved aside of a profile; returns the number of files. */
  async #deleteAside(profileId: string): Promise<number> {
    const prefix = `${profileId.toLowerCase()}${ending}`
    const names = listState(this.#folder).filter((name) => name.startsWith(prefix) && isAside(name))
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { recursive: true })))
    return names.length
  }

  /** @throws BaxError `profile_not_found`, also for one that is somebody else's. */
  async #seen(profileId: string, caller: Caller): Promise<ProfileFile> {
    const file = await this.#read(profileId)
    if (isSeen(file, caller)) return file
    throw notFound(profileId)
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    // The caller receives the error; the next change is made all the same.
    this.#turn = done.catch(() => {})
    return done
  }

  async #write(file: ProfileFile): Promise<ProfileRecord> {
    const sealed = await this.#seal?.close(JSON.stringify(file), file.profile_id)
    await writeState(this.#path(file.profile_id), sealed ?? file)
    return recordOf(file)
  }

  async #readAll(): Promise<ProfileFile[]> {
    const names = listState(this.#folder).filter((name) => name.endsWith(ending))
    const { good, bad } = readEach(names, (name) => {
      const id = name.slice(0, -ending.length)
      const kept = readState<Kept>(join(this.#folder, name), stateKinds.profile)
      return kept && { id, kept }
    })
    this.#bad = bad
    return Promise.all(good.map(({ id, kept }) => this.#opened(kept, id)))
  }

  async #read(profileId: string): Promise<ProfileFile> {
    const kept = readState<Kept>(this.#path(profileId), stateKinds.profile)
    if (kept) return this.#opened(kept, profileId)
    const aside = listState(this.#folder).find((name) => name.startsWith(profileId.toLowerCase()) && isAside(name))
    throw aside === undefined ? notFound(profileId) : damaged(profileId, aside)
  }

  async #opened(kept: Kept, profileId: string): Promise<ProfileFile> {
    return isSealed(kept) ? this.#unseal(kept, profileId) : kept
  }

  async #unseal(sealed: Sealed, profileId: string): Promise<ProfileFile> {
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

const damaged = (profileId: string, file: string): BaxError =>
  new BaxError('profile_not_found', `the profile ${profileId} is damaged and was moved to ${file}`, {
    hint: 'delete it with `bax profile delete`, and save the profile again',
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
