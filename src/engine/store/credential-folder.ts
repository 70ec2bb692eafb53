/** Encrypted credentials on disk, one private file each. */
import { renameSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createAtomic, privateDir, temporaryPath } from '../../core/state/files.ts'
import { isAside, listState, readState, UnusableFile, writeState } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { encodeRecord } from '../../core/state/state-record.ts'
import type { CredentialRecords } from './credentials.ts'
import type { EncryptedText } from './encryption.ts'

const extension = '.json'

export class CredentialFolder implements CredentialRecords {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async readAll(isWanted: (id: string) => boolean): ReturnType<CredentialRecords['readAll']> {
    const names = listState(this.#folder).flatMap((name) => /^([0-9a-f]{64})\.json(?:$|\.)/.exec(name)?.[1] ?? [])
    return [...new Set(names)].filter(isWanted).flatMap((id) => {
      const stored = this.#read(id)
      // It was deleted meanwhile.
      return stored ? [{ id, stored }] : []
    })
  }

  async read(id: string): ReturnType<CredentialRecords['read']> {
    return this.#read(id)
  }

  async add(id: string, stored: EncryptedText): Promise<boolean> {
    await privateDir(this.#folder)
    const record = `${encodeRecord(stored)}\n`
    return createAtomic(this.#path(id), record) === record
  }

  async replace(id: string, stored: EncryptedText, before: EncryptedText): Promise<boolean> {
    const temporary = temporaryPath(this.#path(id))
    await writeState(temporary, stored)
    try {
      // Nothing else of this process runs between the comparison and the change.
      const now = this.#read(id)
      if (now === undefined || now === 'damaged' || now.tag !== before.tag) return false
      renameSync(temporary, this.#path(id))
      return true
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  async delete(id: string): Promise<boolean> {
    const file = `${id}${extension}`
    const found = listState(this.#folder).filter((name) => name === file || isAsideOf(id, name))
    await Promise.all(found.map((name) => rm(join(this.#folder, name), { recursive: true, force: true })))
    return found.length > 0
  }

  #read(id: string): EncryptedText | 'damaged' | undefined {
    try {
      const stored = readState<EncryptedText>(this.#path(id), stateKinds.credential)
      return stored ?? (listState(this.#folder).some((name) => isAsideOf(id, name)) ? 'damaged' : undefined)
    } catch (error) {
      if (error instanceof UnusableFile) return 'damaged'
      throw error
    }
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${extension}`)
  }
}

/** Returns whether a file is that of a damaged credential, and was moved aside. */
const isAsideOf = (id: string, name: string): boolean => name.startsWith(`${id}${extension}`) && isAside(name)
