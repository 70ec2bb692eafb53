/**
 * Versions of pages on disk, for the format changeTracking: a folder per caller, and a file per page. The oldest ones are
 * deleted when a caller has too many.
 */
import { createHash } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import { readState, writeState } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import type { PageVersion, PageVersionKey, PageVersionStore } from '../../core/stores.ts'

/** Files of a caller by name, the oldest first. */
interface Files {
  readonly sizes: Map<string, number>
  bytes: number
}

export interface VersionLimits {
  readonly versions: number
  readonly bytes: number
  readonly ageMs: number
}

export class VersionFolder implements PageVersionStore {
  readonly #folder: string
  readonly #limits: VersionLimits
  #files: Promise<Map<string, Files>> | undefined

  constructor(stateDir: string, most: VersionLimits = limits.changes) {
    this.#folder = join(stateDir, 'versions')
    this.#limits = most
  }

  async find({ owner, page }: PageVersionKey): Promise<PageVersion | undefined> {
    await this.#all()
    const version = readState<PageVersion>(join(this.#folder, folderOf(owner), `${page}.json`), stateKinds.pageVersion)
    return version && this.#isOld(Date.parse(version.at)) ? undefined : version
  }

  async save({ owner, page }: PageVersionKey, version: PageVersion): Promise<void> {
    const all = await this.#all()
    const [folder, name] = [folderOf(owner), `${page}.json`]
    const path = join(this.#folder, folder, name)
    await writeState(path, version)
    const { size } = await stat(path)
    const files = all.get(folder) ?? { sizes: new Map<string, number>(), bytes: 0 }
    all.set(folder, files)
    files.bytes += size - (files.sizes.get(name) ?? 0)
    files.sizes.delete(name)
    files.sizes.set(name, size)
    for (const [oldest, its] of files.sizes) {
      if (files.sizes.size <= this.#limits.versions && files.bytes <= this.#limits.bytes) return
      files.sizes.delete(oldest)
      files.bytes -= its
      await rm(join(this.#folder, folder, oldest), { force: true })
    }
  }

  #isOld(at: number): boolean {
    return Date.now() - at > this.#limits.ageMs
  }

  /** Reads the folders once, and deletes old versions. */
  #all(): Promise<Map<string, Files>> {
    return (this.#files ??= this.#read().catch((error: unknown) => {
      this.#files = undefined
      throw error
    }))
  }

  async #read(): Promise<Map<string, Files>> {
    const all = new Map<string, Files>()
    for (const folder of await namesIn(this.#folder)) {
      const found: { name: string; at: number; size: number }[] = []
      for (const name of await namesIn(join(this.#folder, folder))) {
        const path = join(this.#folder, folder, name)
        // Another process may have deleted it meanwhile.
        const facts = await stat(path).catch(() => undefined)
        if (facts && this.#isOld(facts.mtimeMs)) await rm(path, { force: true })
        else if (facts) found.push({ name, at: facts.mtimeMs, size: facts.size })
      }
      const sorted = found.toSorted((a, b) => a.at - b.at)
      const sizes = new Map(sorted.map(({ name, size }) => [name, size]))
      all.set(folder, { sizes, bytes: sorted.reduce((sum, { size }) => sum + size, 0) })
    }
    return all
  }
}

/** Returns the name of a caller's folder, which does not depend on the form of IDs. */
const folderOf = (owner: string | null): string =>
  createHash('sha256').update(JSON.stringify(owner)).digest('hex').slice(0, 32)

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
