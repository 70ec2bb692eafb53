/** Saved profiles, one private file each, with cookies, local storage and IndexedDB; encrypted if a key is set. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Caller, canSee } from '../../core/access/caller.ts'
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
import { isEncrypted, lockedError, Encryption, type EncryptedText } from './encryption.ts'
import { newestFirst } from '../newest-first.ts'

interface ProfileFile {
  readonly profile_id: string
  readonly name: string
  /** ID of the key that saved the profile; null or missing when the engine uses no keys. */
  readonly owner?: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly state: StorageState
}

/** Content of a profile file. */
type StoredProfile = ProfileFile | EncryptedText

const extension = '.json'

export class ProfileStore {
  readonly #folder: string
  /** Serializes changes, so that checking and taking a name is one step. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #seal: Encryption | undefined
  /** Files that could not be read at the last attempt to read all. */
  #bad: readonly UnusableFile[] = []

  /** Encrypts profiles with `secret` if given; profiles saved without one stay readable. */
  constructor(stateDir: string, secret?: string) {
    this.#folder = join(stateDir, 'profiles')
    this.#seal = secret === undefined ? undefined : new Encryption(secret)
  }

  /** Saves a new profile. @throws BaxError `already_exists` when another profile of the caller has the name. */
  add(name: string, state: StorageState, { keyId: owner }: Caller): Promise<ProfileRecord> {
    return this.#change(async () => {
      const all = await this.#readAll()
      if (all.some((file) => file.name === name && (file.owner ?? null) === owner)) {
        throw new BaxError('already_exists', `a profile is already named ${JSON.stringify(name)}`, {
          hint: 'choose another name, or delete that profile first',
          details: [{ path: 'name', message: 'is in use' }],
        })
      }
      const now = new Date().toISOString()
      return this.#write({ profile_id: randomUUID(), name, owner, created_at: now, updated_at: now, state })
    })
  }

  /** Replaces the state of a profile. @throws BaxError `profile_not_found`. */
  async update(profileId: string, state: StorageState): Promise<void> {
    await this.#change(async () => {
      const file = await this.#read(profileId)
      return this.#write({ ...file, updated_at: new Date().toISOString(), state })
    })
  }

  /** Returns the state of a profile. @throws BaxError `profile_not_found`. */
  async load(profileId: string, caller: Caller): Promise<StorageState> {
    return (await this.#readVisible(profileId, caller)).state
  }

  /** Lists the profiles visible to the caller, newest first. */
  async list(caller: Caller): Promise<ProfileRecord[]> {
    const records = (await this.#readAll()).filter((file) => isVisible(file, caller)).map(recordOf)
    return records.toSorted(newestFirst)
  }

  /** Names damaged files, whose owners are unknown, to callers who see all profiles. */
  warning({ admin }: Caller): string | undefined {
    return admin ? damageWarning(stateKinds.profile, this.#folder, this.#bad) : undefined
  }

  /** Returns the record of a profile. @throws BaxError `profile_not_found`. */
  async get(profileId: string, caller: Caller): Promise<ProfileRecord> {
    return recordOf(await this.#readVisible(profileId, caller))
  }

  /** Deletes a profile, for admins also a damaged one, whose owner is unknown. @throws BaxError `profile_not_found`. */
  async delete(profileId: string, caller: Caller): Promise<void> {
    await this.#change(async () => {
      try {
        await this.#readVisible(profileId, caller)
      } catch (error) {
        if (!caller.admin || (await this.#deleteAside(profileId)) === 0) throw error
        return
      }
      await rm(this.#path(profileId))
    })
  }

  /** Deletes the damaged files of a profile that were moved aside; returns their number. */
  async #deleteAside(profileId: string): Promise<number> {
    const prefix = `${profileId.toLowerCase()}${extension}`
    const names = listState(this.#folder).filter((name) => name.startsWith(prefix) && isAside(name))
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { recursive: true })))
    return names.length
  }

  /** Reads a profile visible to the caller. @throws BaxError `profile_not_found`, also for profiles of other keys. */
  async #readVisible(profileId: string, caller: Caller): Promise<ProfileFile> {
    const file = await this.#read(profileId)
    if (isVisible(file, caller)) return file
    throw notFound(profileId)
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    // The caller receives the error; the next change is made all the same.
    this.#turn = done.catch(() => {})
    return done
  }

  async #write(file: ProfileFile): Promise<ProfileRecord> {
    const sealed = await this.#seal?.encrypt(JSON.stringify(file), file.profile_id)
    await writeState(this.#path(file.profile_id), sealed ?? file)
    return recordOf(file)
  }

  async #readAll(): Promise<ProfileFile[]> {
    const names = listState(this.#folder).filter((name) => name.endsWith(extension))
    const { good, bad } = readEach(names, (name) => {
      const id = name.slice(0, -extension.length)
      const stored = readState<StoredProfile>(join(this.#folder, name), stateKinds.profile)
      return stored && { id, stored }
    })
    this.#bad = bad
    return Promise.all(good.map(({ id, stored }) => this.#decrypt(stored, id)))
  }

  async #read(profileId: string): Promise<ProfileFile> {
    const stored = readState<StoredProfile>(this.#path(profileId), stateKinds.profile)
    if (stored) return this.#decrypt(stored, profileId)
    const aside = listState(this.#folder).find((name) => name.startsWith(profileId.toLowerCase()) && isAside(name))
    throw aside === undefined ? notFound(profileId) : damaged(profileId, aside)
  }

  async #decrypt(stored: StoredProfile, profileId: string): Promise<ProfileFile> {
    if (!isEncrypted(stored)) return stored
    if (this.#seal) return JSON.parse(await this.#seal.decrypt(stored, profileId.toLowerCase())) as ProfileFile
    throw lockedError('a saved profile is encrypted, and no profile key is set')
  }

  /** Returns the path of a profile; its ID is a UUID by the schema and cannot lead out of the folder. */
  #path(profileId: string): string {
    return join(this.#folder, `${profileId.toLowerCase()}${extension}`)
  }
}

const isVisible = ({ owner = null }: ProfileFile, caller: Caller): boolean => canSee(caller, owner)

const notFound = (profileId: string): BaxError =>
  new BaxError('profile_not_found', `no profile has the id ${profileId}`, {
    hint: 'list them with "bax profile list"',
  })

const damaged = (profileId: string, file: string): BaxError =>
  new BaxError('profile_not_found', `the profile ${profileId} is damaged and was moved to ${file}`, {
    hint: 'delete it with "bax profile delete", and save the profile again',
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
