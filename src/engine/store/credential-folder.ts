/** Encrypted credentials on disk, one private file each. */
import { renameSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createAtomic, privateDir, temporaryPath } from '../../core/state/files.ts'
import { listState, readState, writeState } from '../../core/state/state-file.ts'
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
    const names = listState(this.#folder).filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
    const ids = names.map((name) => name.slice(0, -extension.length)).filter(isWanted)
    return ids.flatMap((id) => {
      const stored = this.#read(id)
      // It was deleted meanwhile.
      return stored ? [{ id, stored }] : []
    })
  }

  async read(id: string): Promise<EncryptedText | undefined> {
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
      if (this.#read(id)?.tag !== before.tag) return false
      renameSync(temporary, this.#path(id))
      return true
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  async delete(id: string): Promise<boolean> {
    const path = this.#path(id)
    const isFound = listState(this.#folder).includes(`${id}${extension}`)
    await rm(path, { force: true })
    return isFound
  }

  #read(id: string): EncryptedText | undefined {
    return readState<EncryptedText>(this.#path(id), stateKinds.credential)
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${extension}`)
  }
}
