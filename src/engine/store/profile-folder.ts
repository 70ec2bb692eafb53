/** Profiles on disk, one private file each. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { acquireLock, lockName, waitForRelease } from '../../core/process/process-lock.ts'
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
import type { NamedProfile, ProfileRecords, StoredProfile } from './profiles.ts'

const extension = '.json'

export class ProfileFolder implements ProfileRecords {
  readonly #folder: string
  /** Serializes changes, so that checking and taking a name is one step. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Files that could not be read at the last attempt to read all. */
  #bad: readonly UnusableFile[] = []

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'profiles')
  }

  async readAll(): Promise<NamedProfile[]> {
    const names = listState(this.#folder).filter((name) => name.endsWith(extension))
    const { good, bad } = readEach(names, (name) => {
      const id = name.slice(0, -extension.length)
      const stored = readState<StoredProfile>(join(this.#folder, name), stateKinds.profile)
      return stored && { id: id.toLowerCase(), stored }
    })
    this.#bad = bad
    return good
  }

  async read(id: string): Promise<StoredProfile | undefined> {
    const stored = readState<StoredProfile>(this.#path(id), stateKinds.profile)
    if (stored) return stored
    const [aside] = this.#asideNames(id)
    if (aside !== undefined) throw damaged(id, aside)
    return undefined
  }

  add(make: () => Promise<NamedProfile>): Promise<void> {
    return this.#change(async () => this.#write(await make()))
  }

  update(id: string, change: (stored: StoredProfile) => Promise<StoredProfile>): Promise<boolean> {
    return this.#change(() =>
      this.#locked(id, async () => {
        const stored = await this.read(id)
        if (stored) await this.#write({ id, stored: await change(stored) })
        return stored !== undefined
      }),
    )
  }

  delete(id: string): Promise<void> {
    return this.#change(() => this.#locked(id, () => rm(this.#path(id), { force: true })))
  }

  async deleteDamaged(id: string): Promise<boolean> {
    const names = this.#asideNames(id)
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { recursive: true })))
    return names.length > 0
  }

  warning(): string | undefined {
    return damageWarning(stateKinds.profile, this.#folder, this.#bad)
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    // The caller receives the error; the next change is made all the same.
    this.#turn = done.catch(() => {})
    return done
  }

  /** Runs work while no other process changes the profile. */
  async #locked<T>(id: string, work: () => Promise<T>): Promise<T> {
    // The ID is secret, and with it the name of the lock.
    const hash = createHash('sha256').update(this.#folder).update(id).digest('hex').slice(0, 32)
    const name = lockName(hash, tmpdir(), process.platform, process.version)
    const late = AbortSignal.timeout(limits.stores.lockMs)
    for (;;) {
      const lock = await acquireLock(name)
      if (lock) return work().finally(() => lock.release())
      await waitForRelease(name, late)
    }
  }

  #write({ id, stored }: NamedProfile): Promise<void> {
    return writeState(this.#path(id), stored)
  }

  /** Returns the damaged files of a profile that were moved aside. */
  #asideNames(id: string): string[] {
    return listState(this.#folder).filter((name) => name.startsWith(`${id}${extension}`) && isAside(name))
  }

  /** Returns the path of a profile; its ID is a UUID and cannot lead out of the folder. */
  #path(id: string): string {
    return join(this.#folder, `${id}${extension}`)
  }
}

const damaged = (id: string, file: string): BaxError =>
  new BaxError('profile_not_found', `the profile ${id} is damaged and was moved to ${file}`, {
    hint: 'delete it with "bax profile delete", and save the profile again',
  })
