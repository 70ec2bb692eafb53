/** A folder into which files are written, each whole or not at all, and never one outside it. */
import { mkdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'

const temporaryName = '.bax-crawl.tmp'

/** Paths are relative, with `/`; one file at a time. Every method throws BaxError `no_space` or `invalid_request` for what cannot be done. */
export class Folder {
  readonly root: string
  #realRoot: string | undefined
  /** Folders that were found to lie inside. */
  readonly #inside = new Set<string>()

  constructor(root: string) {
    this.root = resolve(root)
  }

  /** Writes a file with its folders; what stood there, be it a link to elsewhere, is replaced. */
  async write(path: string, content: string | Uint8Array | AsyncIterable<string> | Iterable<string>): Promise<void> {
    await explained(join(this.root, path), async () => {
      const target = await this.#place(path, true)
      const temporary = join(this.root, temporaryName)
      // What a crawl that was killed has left.
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
    return explained(join(this.root, path), async () => readFile(await this.#place(path, false)))
  }

  async move(from: string, to: string): Promise<void> {
    await explained(join(this.root, to), async () =>
      rename(await this.#place(from, false), await this.#place(to, true)),
    )
  }

  /** Removes a file, and the folders that it leaves empty; one that is gone already, or lies elsewhere, is let be. */
  async remove(path: string): Promise<void> {
    const target = await this.#place(path, false).catch(() => undefined)
    if (target === undefined) return
    await explained(target, () => rm(target, { force: true }))
    for (let folder = dirname(target); folder.startsWith(this.root + sep); folder = dirname(folder)) {
      const empty = await rmdir(folder).then(
        () => true,
        () => false,
      )
      if (!empty) return
      this.#inside.delete(folder)
    }
  }

  /** The place of a file on this machine. */
  async #place(path: string, make: boolean): Promise<string> {
    const target = resolve(this.root, path)
    if (!target.startsWith(this.root + sep)) throw outside(path)
    const folder = dirname(target)
    if (!this.#inside.has(folder)) await this.#check(folder, path)
    // One that was there a moment ago may have been removed since: making it again costs little.
    if (make) await mkdir(folder, { recursive: true })
    this.#inside.add(folder)
    return target
  }

  /** @throws BaxError when a link among the folders leads elsewhere; what is not there yet cannot. */
  async #check(folder: string, path: string): Promise<void> {
    this.#realRoot ??= await realpath(this.root)
    let existing = folder
    let real = await realOf(existing)
    while (real === undefined) real = await realOf((existing = dirname(existing)))
    if (real !== this.#realRoot && !real.startsWith(this.#realRoot + sep)) throw outside(path)
  }
}

/** Undefined when there is nothing. */
const realOf = (path: string): Promise<string | undefined> =>
  realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

const outside = (path: string) => new BaxError('invalid_request', `${path} leads out of the folder`)

async function explained<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof BaxError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw new BaxError(code === 'ENOSPC' ? 'no_space' : 'invalid_request', `cannot write ${path}: ${code}`, { cause })
  }
}
