/** A folder whose files are replaced atomically; nothing outside it is ever written. */
import { rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { isInside, readRegularFile } from '../../../core/state/outside-files.ts'
import { cannotWrite } from '../../output/write-output.ts'
import { succeeds } from '../../../core/succeeds.ts'
import { makeFolders } from '../../../core/state/folders.ts'

const temporaryName = '.bax-crawl.tmp'

/** Takes relative paths with `/`, and one call at a time. Methods throw BaxError `no_space` or `invalid_request`. */
export class Folder {
  readonly root: string
  readonly #inside = new Set<string>()

  constructor(root: string) {
    this.root = resolve(root)
  }

  /** Writes a file and creates its folders. Replaces an existing file or symbolic link. */
  async write(path: string, content: string | Uint8Array | AsyncIterable<string> | Iterable<string>): Promise<void> {
    await explaining(join(this.root, path), async () => {
      const target = await this.#resolve(path, true)
      const temporary = join(this.root, temporaryName)
      // A killed crawl may have left its temporary file.
      await rm(temporary, { force: true })
      try {
        await writeFile(temporary, content, { flag: 'wx' })
        await rename(temporary, target)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    })
  }

  async read(path: string): Promise<Buffer> {
    return explaining(join(this.root, path), async () => {
      const target = await this.#resolve(path, false)
      if (!(await isInside(this.root, target))) throw outside(path)
      return readRegularFile(target, limits.crawl.mirrorFileBytes)
    })
  }

  async move(from: string, to: string): Promise<void> {
    await explaining(join(this.root, to), async () =>
      rename(await this.#resolve(from, false), await this.#resolve(to, true)),
    )
  }

  /** Removes a file and the folders left empty. Ignores files that are missing or outside the folder. */
  async remove(path: string): Promise<void> {
    const target = await this.#resolve(path, false).catch(() => undefined)
    if (target === undefined) return
    await explaining(target, () => rm(target, { force: true }))
    for (let folder = dirname(target); folder.startsWith(this.root + sep); folder = dirname(folder)) {
      if (!(await succeeds(rmdir(folder)))) return
      this.#inside.delete(folder)
    }
  }

  /** Creates the folder itself; returns whether it is new. */
  create(): Promise<boolean> {
    return explaining(this.root, async () => makeFolders(this.root))
  }

  /** Returns the absolute path of a file, checked to be inside the folder. */
  async #resolve(path: string, make: boolean): Promise<string> {
    const target = resolve(this.root, path)
    if (!target.startsWith(this.root + sep)) throw outside(path)
    const folder = dirname(target)
    if (!this.#inside.has(folder)) await this.#check(folder, path)
    // A checked folder may have been removed since.
    if (make) makeFolders(folder)
    this.#inside.add(folder)
    return target
  }

  /** @throws BaxError if a symbolic link among the existing folders leads outside */
  async #check(folder: string, path: string): Promise<void> {
    if (!(await isInside(this.root, folder))) throw outside(path)
  }
}

const outside = (path: string) => new BaxError('invalid_request', `${path} is outside the folder`)

async function explaining<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    throw cannotWrite(path, cause)
  }
}
