/** Reads ZIP archives, one file at a time, with limits on their number and on the unpacked size. */
import { buffer } from 'node:stream/consumers'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { limits } from '../../../../core/limits/limits.ts'
import { decodeText } from '../../../render/http/charset.ts'
import { OfficeError } from './office-error.ts'

export class ZipArchive {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  /** Bytes that may still be unpacked, also from archives inside. */
  readonly #budget: { left: number }
  /** Whether it is in another archive. */
  readonly isInner: boolean

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, around: ZipArchive | undefined) {
    this.#zip = zip
    this.#entries = entries
    this.#budget = around ? around.#budget : { left: limits.office.unpackedBytes }
    this.isInner = around !== undefined
  }

  /** @throws OfficeError for an archive without a readable directory */
  static async open(bytes: Uint8Array, around?: ZipArchive): Promise<ZipArchive> {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Names are not paths here, so they are not validated as such.
    const options = { lazyEntries: true, decodeStrings: false }
    const entries = new Map<string, Entry>()
    try {
      const zip = await fromBufferPromise(all, options)
      if (zip.entryCount > limits.office.files)
        throw new OfficeError('large', `the archive has ${zip.entryCount} files`)
      for await (const entry of zip.eachEntry()) {
        const name = entry.fileNameRaw.toString('utf8')
        // The first of several files with the same name is the one that programs open.
        if (!entries.has(name)) entries.set(name, entry)
      }
      return new ZipArchive(zip, entries, around)
    } catch (error) {
      throw brokenBy(error, 'the archive cannot be read')
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Returns a file as text; undefined if it is missing. @throws OfficeError */
  async text(name: string): Promise<string | undefined> {
    const bytes = await this.bytes(name)
    if (!bytes) return undefined
    return (await decodeText(bytes, null, { declares: true })).text
  }

  /** Returns a file; undefined if it is missing. @throws OfficeError */
  async bytes(name: string): Promise<Buffer | undefined> {
    const entry = this.#entries.get(name)
    if (!entry) return undefined
    if (entry.isEncrypted()) throw new OfficeError('locked', `${name} is encrypted`)
    // Reading fails when the declared size is wrong.
    this.#budget.left -= entry.uncompressedSize
    if (this.#budget.left < 0) throw new OfficeError('large', `${name} is too large when unpacked`)
    try {
      return await buffer(await this.#zip.openReadStreamPromise(entry))
    } catch (error) {
      throw brokenBy(error, `${name} cannot be unpacked`)
    }
  }
}

const brokenBy = (error: unknown, what: string): OfficeError =>
  error instanceof OfficeError ? error : new OfficeError('broken', `${what}: ${(error as Error).message}`)
