/** Files of one session, limited in number and by a quota on their total size. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import mime from 'mime'
import type { Content } from '../../../core/operation/call.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { FileSource, SessionFile } from '../../../core/shapes/session-files.ts'
import { untilAborted } from '../../../core/process/until-aborted.ts'
import { privateDir } from '../../../core/state/files.ts'
import { percentEncoded } from '../../name-bytes.ts'

interface StoredFile {
  readonly path: string
  readonly size: number
  readonly source: FileSource
  readonly createdAt: Date
  /** Name and content hash of an upload. */
  readonly upload?: { readonly name: string; readonly digest: string }
  /** Links to it in folders that pages have. */
  readonly links?: string[]
}

/** A file, and its path in a folder. */
interface ArrangedFile {
  readonly path: string
  readonly name: string
}

/** Folder of the uploads: each has a folder of its own, because pages see the name on disk. */
export const uploadFolder = '.uploads'

export class FileStore {
  /** Folder with all files; exists once it has one. */
  readonly folder: string
  readonly #maxBytes: number
  readonly #files = new Map<string, StoredFile>()
  /** Names of files that are still being written. */
  readonly #reserved = new Set<string>()
  readonly #onFreed: (() => void)[] = []
  #bytes = 0
  /** Size of the uploads that are being received, so far. */
  #receiving = 0
  /** Size of the downloads that are running, so far, by ID. */
  readonly #running = new Map<string, number>()
  #uploads = 0
  /** Parents of the folders that pages have, by their files. */
  readonly #arranged = new Map<string, string>()

  constructor(folder: string, maxBytes: number) {
    this.folder = folder
    this.#maxBytes = maxBytes
  }

  list(): SessionFile[] {
    return [...this.#files].map(([name, file]) => recordOf(name, file))
  }

  /** Returns the path of a file; undefined if there is none of this name. */
  pathOf(name: string): string | undefined {
    return this.#files.get(name)?.path
  }

  /** Returns the path of a file and the name that pages see, with folders if it was uploaded with them. */
  findFile(name: string): ArrangedFile | undefined {
    const file = this.#files.get(name)
    return file && { path: file.path, name: file.upload?.name ?? basename(name) }
  }

  /** Creates folders with links to uploads, which the page sees with their paths; returns the paths of the folders. */
  async arrange(uploads: readonly ArrangedFile[]): Promise<string[]> {
    if (uploads.length === 0) return []
    const key = JSON.stringify(uploads.map(({ path, name }) => [path, name]))
    const parent = this.#arranged.get(key) ?? join(this.folder, uploadFolder, String(++this.#uploads))
    if (!this.#arranged.has(key)) {
      const stored = new Map([...this.#files.values()].map((file) => [file.path, file]))
      for (const { path, name } of uploads) {
        const target = join(parent, name)
        try {
          await privateDir(dirname(target))
          await link(path, target)
        } catch (error) {
          if (!/^(EEXIST|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error
          throw new BaxError('invalid_data', `two of the files to upload cannot both be ${name}`, { cause: error })
        }
        stored.get(path)?.links?.push(target)
      }
      this.#arranged.set(key, parent)
    }
    return [...new Set(uploads.map(({ name }) => join(parent, name.slice(0, name.indexOf('/')))))]
  }

  /** Returns whether the files, with those that are being received and `more` bytes, exceed the quota. */
  exceeds(more: number): boolean {
    let bytes = this.#bytes + this.#receiving + more
    for (const running of this.#running.values()) bytes += running
    return bytes > this.#maxBytes
  }

  /** Counts the bytes of a running download; undefined when it has ended. */
  countRunning(guid: string, bytes: number | undefined): void {
    if (bytes === undefined) this.#running.delete(guid)
    else this.#running.set(guid, bytes)
  }

  /** Calls the listener whenever a file was removed. */
  onFreed(listener: () => void): void {
    this.#onFreed.push(listener)
  }

  /** @throws BaxError `no_space` unless a file of this size may be added in place of the one of this name. */
  checkRoom(name: string, size: number): void {
    const replaced = this.#files.get(name)
    if (!replaced) this.#checkCount()
    if (this.exceeds(size - (replaced?.size ?? 0))) throw this.#full()
  }

  /** Returns a free name for a file to be added: `report.pdf` becomes `report (2).pdf` if that name is taken. */
  reserve(wanted: string): string {
    const extension = extname(wanted)
    const stem = wanted.slice(0, wanted.length - extension.length)
    let name = wanted
    for (let number = 2; this.#files.has(name) || this.#reserved.has(name); number++)
      name = `${stem} (${number})${extension}`
    this.#reserved.add(name)
    return name
  }

  /** Frees a reserved name whose file was not written. */
  release(name: string): void {
    this.#reserved.delete(name)
  }

  /** Adds a file that was written into the folder; replaces one of the same name. */
  add(name: string, file: Omit<StoredFile, 'createdAt'>): SessionFile {
    this.#reserved.delete(name)
    const replaced = this.#files.get(name)
    this.#bytes += file.size - (replaced?.size ?? 0)
    // Remaining files are removed with the session.
    if (replaced && replaced.path !== file.path) discard(replaced).catch(() => {})
    const stored = { ...file, createdAt: new Date() }
    // The newest file is listed last.
    this.#files.delete(name)
    this.#files.set(name, stored)
    return recordOf(name, stored)
  }

  /** Returns the name of a file at a path in the folder. */
  nameAt(path: string): string {
    return relative(this.folder, path).split(sep).join('/')
  }

  /** Adds a file written by somebody else at a path in the folder, unless it exceeds the quota: then it is removed. */
  async adopt(path: string, source: FileSource): Promise<SessionFile> {
    const name = this.nameAt(path)
    const { size } = await stat(path)
    try {
      this.checkRoom(name, size)
    } catch (error) {
      this.#reserved.delete(name)
      await rm(path, { force: true })
      throw error
    }
    return this.add(name, { path, size, source })
  }

  /**
   * Receives an upload until `signal` is aborted. Without `overwrite` it gets a free name, or is discarded if the session
   * has the same file.
   */
  async receive(
    given: string,
    body: AsyncIterable<Uint8Array>,
    { overwrite, signal }: { readonly overwrite: boolean; readonly signal: AbortSignal },
  ): Promise<SessionFile> {
    // The folder of a session that has ended is gone.
    signal.throwIfAborted()
    this.checkRoom(given, 0)
    const folder = join(this.folder, uploadFolder, String(++this.#uploads))
    const path = join(folder, basename(given))
    await privateDir(folder)
    try {
      const { size, digest } = await this.#write(path, body, signal)
      const same = overwrite ? undefined : this.#findUpload(given, digest)
      // It becomes the latest one of its name.
      const known = same && this.add(...same)
      if (known) await rm(folder, { recursive: true })
      if (known) return known
      // Other files may have been added meanwhile.
      if (!overwrite || !this.#files.has(given)) this.#checkCount()
      const name = overwrite ? given : this.reserve(given)
      return this.add(name, { path, size, source: 'upload', upload: { name: given, digest }, links: [] })
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** @throws BaxError `file_not_found`. */
  async remove(name: string): Promise<void> {
    const file = this.#find(name)
    this.#files.delete(name)
    this.#bytes -= file.size
    await discard(file)
    for (const listener of this.#onFreed) listener()
  }

  /** Opens a file for download. @throws BaxError `file_not_found`. */
  async open(name: string, hold: () => () => void): Promise<Content> {
    const file = this.#find(name)
    const { path, size } = file
    return {
      size,
      etag: createHash('sha256').update(`${path} ${size} ${file.createdAt.getTime()}`).digest('hex').slice(0, 32),
      contentType: typeOf(name),
      fileName: percentEncoded(Buffer.from(name.slice(name.lastIndexOf('/') + 1))),
      read: async function* (start, end) {
        const release = hold()
        try {
          yield* createReadStream(path, { start, end: end - 1 }) as AsyncIterable<Uint8Array>
        } finally {
          release()
        }
      },
    }
  }

  async #write(
    path: string,
    body: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<{ size: number; digest: string }> {
    const hash = createHash('sha256')
    let size = 0
    const counted = async function* (this: FileStore) {
      for await (const chunk of untilAborted(body, signal)) {
        size += chunk.length
        this.#receiving += chunk.length
        if (this.exceeds(0)) throw this.#full()
        hash.update(chunk)
        yield chunk
      }
    }
    try {
      await pipeline(counted.bind(this), createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal })
      return { size, digest: hash.digest('hex') }
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      this.#receiving -= size
    }
  }

  #findUpload(name: string, digest: string): [string, StoredFile] | undefined {
    return [...this.#files].find(([, { upload }]) => upload?.name === name && upload.digest === digest)
  }

  #checkCount(): void {
    if (this.#files.size >= limits.session.files) throw tooMany()
  }

  #find(name: string): StoredFile {
    const file = this.#files.get(name)
    if (file) return file
    throw new BaxError('file_not_found', `the session has no file ${JSON.stringify(name)}`, {
      hint: 'run "bax session files" to list them',
    })
  }

  #full(): BaxError {
    return new BaxError('no_space', `the files of the session exceed its quota of ${this.#maxBytes} bytes`, {
      hint: 'delete files with "bax session remove-file"',
    })
  }
}

const tooMany = (): BaxError =>
  new BaxError('no_space', `the session already has ${limits.session.files} files`, {
    hint: 'delete files with "bax session remove-file"',
  })

const typeOf = (name: string): string => mime.getType(name) ?? 'application/octet-stream'

const recordOf = (name: string, { size, source, createdAt }: StoredFile): SessionFile => ({
  name,
  size,
  type: typeOf(name),
  source,
  created_at: createdAt.toISOString(),
})

/** Removes a file from the disk, with the folder of an upload and the links to it. */
async function discard({ path, upload, links = [] }: StoredFile): Promise<void> {
  for (const file of [upload ? dirname(path) : path, ...links]) await rm(file, { recursive: true, force: true })
}
