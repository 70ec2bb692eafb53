/**
 * Saved profiles with cookies, local storage and IndexedDB, encrypted if a key is set; on the records that
 * `profile-folder.ts` or a fleet keeps.
 */
import { randomUUID } from 'node:crypto'
import { type Caller, canSee } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { uuidPattern } from '../../core/shapes/fields.ts'
import type { ProfileRecord } from '../../core/shapes/session.ts'
import type { ProfileStore as Profiles, StorageState } from '../../core/stores.ts'
import { isEncrypted, lockedError, Encryption, type EncryptedText } from './encryption.ts'
import { newestFirst } from '../../core/newest-first.ts'
import { ProfileFolder } from './profile-folder.ts'

interface ProfileFile {
  readonly profile_id: string
  readonly name: string
  /** ID of the key that saved the profile; null or missing when the engine uses no keys. */
  readonly owner?: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly state: StorageState
}

/** Record of a profile. */
export type StoredProfile = ProfileFile | EncryptedText

export interface NamedProfile {
  /** ID, in lower case: the record may be a copy of another one. */
  readonly id: string
  readonly stored: StoredProfile
}

/** Storage of profiles. */
export interface ProfileRecords {
  /** Returns all readable profiles; the others are in the next warning. */
  readAll(): Promise<NamedProfile[]>
  /** Returns one profile, undefined if it is missing. @throws BaxError `profile_not_found` if it is damaged. */
  read(id: string): Promise<StoredProfile | undefined>
  /** Adds a profile that `make` builds, after it has checked the existing ones: both are one step. */
  add(make: () => Promise<NamedProfile>): Promise<void>
  /** Replaces the record of a profile by what `change` makes of it, in one step; returns false if it is missing. */
  update(id: string, change: (stored: StoredProfile) => Promise<StoredProfile>): Promise<boolean>
  delete(id: string): Promise<void>
  /** Deletes what is left of a damaged profile; returns whether there was anything. */
  deleteDamaged(id: string): Promise<boolean>
  /** Names damaged profiles. */
  warning(): string | undefined
}

export class SavedProfiles implements Profiles {
  readonly #records: ProfileRecords
  readonly #seal: Encryption | undefined

  /** Encrypts profiles with `secret` if given; profiles saved without one stay readable. */
  constructor(records: ProfileRecords, secret?: string) {
    this.#records = records
    this.#seal = secret === undefined ? undefined : new Encryption(secret)
  }

  async add(name: string, state: StorageState, { keyId: owner }: Caller): Promise<ProfileRecord> {
    const now = new Date().toISOString()
    const file: ProfileFile = { profile_id: randomUUID(), name, owner, created_at: now, updated_at: now, state }
    await this.#records.add(async () => {
      const { readable, locked } = await this.#readAll()
      // Without a key this one would be readable beside encrypted ones.
      if (!this.#seal && locked[0]) throw locked[0].error
      if (readable.some((other) => other.name === name && (other.owner ?? null) === owner)) {
        throw new BaxError('already_exists', `a profile is already named ${JSON.stringify(name)}`, {
          hint: 'choose another name, or delete that profile first',
          details: [{ path: 'name', message: 'is in use' }],
        })
      }
      return this.#encrypted(file)
    })
    return recordOf(file)
  }

  async update(profileId: string, change: (state: StorageState) => StorageState): Promise<void> {
    const id = profileId.toLowerCase()
    const isFound = await this.#records.update(id, async (stored) => {
      const file = await this.#decrypt({ id, stored })
      const now = new Date().toISOString()
      return (await this.#encrypted({ ...file, updated_at: now, state: change(file.state) })).stored
    })
    if (!isFound) throw notFound(profileId)
  }

  load(idOrName: string, caller: Caller): Promise<Pick<ProfileFile, 'profile_id' | 'state'>> {
    return this.#readVisible(idOrName, caller)
  }

  async list(caller: Caller, onUnreadable?: (warning: string) => void): Promise<ProfileRecord[]> {
    const { readable, locked } = await this.#readAll()
    const warnings = [locked.length > 0 && lockedWarning(locked, caller.admin), caller.admin && this.#records.warning()]
    const warning = warnings.filter(Boolean).join('; ')
    if (warning) onUnreadable?.(warning)
    const visible = readable.filter((file) => isVisible(file, caller))
    return visible.map(recordOf).toSorted(newestFirst)
  }

  async get(idOrName: string, caller: Caller): Promise<ProfileRecord> {
    return recordOf(await this.#readVisible(idOrName, caller))
  }

  async delete(idOrName: string, caller: Caller): Promise<void> {
    let found: ProfileFile
    try {
      found = await this.#readVisible(idOrName, caller)
    } catch (error) {
      if (!caller.admin || !uuidPattern.test(idOrName)) throw error
      const id = idOrName.toLowerCase()
      if ((error as BaxError).code === 'profile_locked') await this.#records.delete(id)
      else if (!(await this.#records.deleteDamaged(id))) throw error
      return
    }
    await this.#records.delete(found.profile_id)
  }

  /** Reads a profile visible to the caller. @throws BaxError `profile_not_found`, also for profiles of other keys. */
  async #readVisible(idOrName: string, caller: Caller): Promise<ProfileFile> {
    if (!uuidPattern.test(idOrName)) return this.#readNamed(idOrName, caller)
    const file = await this.#read(idOrName)
    if (isVisible(file, caller)) return file
    throw notFound(idOrName)
  }

  /** Reads a profile of the caller by its name. @throws BaxError `profile_not_found`, `conflict` */
  async #readNamed(name: string, { keyId }: Caller): Promise<ProfileFile> {
    const { readable, locked } = await this.#readAll()
    const own = readable.filter(({ owner = null }) => owner === keyId)
    const [found, ...copies] = own.filter((file) => file.name === name)
    if (found && copies.length === 0) return found
    // Names are unique when they are saved, but files may be copied into the folder.
    if (found)
      throw new BaxError('conflict', `${copies.length + 1} profiles are named ${JSON.stringify(name)}`, {
        hint: 'use the id instead of the name',
      })
    const near = didYouMean(
      name,
      own.map((file) => file.name),
    )
    const others = locked.length > 0 ? `; ${lockedWarning(locked, false)}` : ''
    throw new BaxError('profile_not_found', `no profile is named ${JSON.stringify(name)}${near}${others}`, {
      hint: listHint,
    })
  }

  async #encrypted(file: ProfileFile): Promise<NamedProfile> {
    const id = file.profile_id
    return { id, stored: (await this.#seal?.encrypt(JSON.stringify(file), id)) ?? file }
  }

  /** @throws BaxError `profile_locked` if there are profiles, and none can be decrypted. */
  async #readAll(): Promise<{ readonly readable: ProfileFile[]; readonly locked: LockedProfile[] }> {
    const readable: ProfileFile[] = []
    const locked: LockedProfile[] = []
    const read = async (profile: NamedProfile) => {
      try {
        readable.push(await this.#decrypt(profile))
      } catch (error) {
        locked.push({ id: profile.id, error: error as BaxError })
      }
    }
    await Promise.all((await this.#records.readAll()).map(read))
    if (readable.length === 0 && locked[0]) throw locked[0].error
    return { readable, locked }
  }

  async #read(profileId: string): Promise<ProfileFile> {
    const id = profileId.toLowerCase()
    const stored = await this.#records.read(id)
    if (stored) return this.#decrypt({ id, stored })
    throw notFound(profileId)
  }

  /** Returns the content of a record, with the ID that it is stored under. */
  async #decrypt({ id, stored }: NamedProfile): Promise<ProfileFile> {
    if (!isEncrypted(stored)) return { ...stored, profile_id: id }
    if (!this.#seal) throw lockedError('a saved profile is encrypted, and no profile key is set')
    return { ...(JSON.parse(await this.#seal.decrypt(stored, id)) as ProfileFile), profile_id: id }
  }
}

interface LockedProfile {
  readonly id: string
  readonly error: BaxError
}

function lockedWarning(locked: readonly LockedProfile[], showIds: boolean): string {
  const count = locked.length === 1 ? 'one saved profile' : `${locked.length} saved profiles`
  const ids = showIds ? ` (${locked.map(({ id }) => id).join(', ')})` : ''
  return `${count}${ids}, of any key, cannot be decrypted with this profile key`
}

/** Profiles on disk. */
export class ProfileStore extends SavedProfiles {
  constructor(stateDir: string, secret?: string) {
    super(new ProfileFolder(stateDir), secret)
  }
}

const isVisible = ({ owner = null }: ProfileFile, caller: Caller): boolean => canSee(caller, owner)

const listHint = 'list them with "bax profile list"'

const notFound = (profileId: string): BaxError =>
  new BaxError('profile_not_found', `no profile has the id ${profileId}`, {
    hint: listHint,
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
