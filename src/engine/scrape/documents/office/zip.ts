/** Reads ZIP archives by their central directory, one file at a time, with limits on the unpacked size. */
import { inflateRawSync } from 'node:zlib'
import { limits } from '../../../../core/limits/limits.ts'
import { OfficeError } from './office-error.ts'

interface ZipEntry {
  readonly at: number
  readonly packed: number
  readonly method: number
  readonly isEncrypted: boolean
}

/** Signatures of a local header, a directory entry, and the end of the directory. */
const [localHeader, directoryEntry, directoryEnd] = [0x04034b50, 0x02014b50, 0x06054b50]
const endBytes = 22
const [stored, deflated] = [0, 8]

export class ZipArchive {
  readonly #bytes: Buffer
  readonly #entries: ReadonlyMap<string, ZipEntry>
  #unpacked = 0

  /** @throws OfficeError for an archive without a readable directory */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#entries = directoryOf(this.#bytes)
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Returns a file as text; undefined if it is missing. @throws OfficeError */
  text(name: string): string | undefined {
    const bytes = this.#read(name)
    if (!bytes) return undefined
    const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8' // prettier-ignore
    return new TextDecoder(encoding).decode(bytes)
  }

  #read(name: string): Buffer | undefined {
    const entry = this.#entries.get(name)
    if (!entry) return undefined
    const { at, packed, method, isEncrypted } = entry
    if (isEncrypted) throw new OfficeError('locked', `${name} is encrypted`)
    const bytes = this.#bytes
    if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== localHeader) throw new OfficeError('broken', `${name} has no header`) // prettier-ignore
    const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
    if (from + packed > bytes.length) throw new OfficeError('broken', `${name} is truncated`)
    const content = unpack(name, bytes.subarray(from, from + packed), method, limits.office.unpackedBytes - this.#unpacked) // prettier-ignore
    this.#unpacked += content.length
    return content
  }
}

/** Unpacks at most `most` bytes, whatever the sizes that the archive declares. */
function unpack(name: string, packed: Buffer, method: number, most: number): Buffer {
  const tooLarge = () => new OfficeError('large', `${name} is too large when unpacked`)
  if (method === stored && packed.length <= most) return packed
  if (method === stored) throw tooLarge()
  if (method !== deflated) throw new OfficeError('broken', `${name} has the unknown compression ${method}`)
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new OfficeError('broken', `${name} cannot be unpacked: ${(error as Error).message}`)
  }
}

function directoryOf(bytes: Buffer): Map<string, ZipEntry> {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  if (count > limits.office.files) throw new OfficeError('large', `the archive has ${count} files`)
  const entries = new Map<string, ZipEntry>()
  let at = bytes.readUInt32LE(end + 16)
  for (let left = count; left > 0; left--) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== directoryEntry)
      throw new OfficeError('broken', 'the directory of the archive is damaged')
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [number, number, number] // prettier-ignore
    const path = bytes.toString('utf8', at + 46, at + 46 + name)
    // The first of several files with the same name is the one that programs open.
    if (!entries.has(path)) {
      entries.set(path, {
        at: bytes.readUInt32LE(at + 42),
        packed: bytes.readUInt32LE(at + 20),
        method: bytes.readUInt16LE(at + 10),
        isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
      })
    }
    at += 46 + name + extra + comment
  }
  return entries
}

/** Returns the position of the end record, which is followed by a comment of at most 64 kB. */
function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - endBytes - 0xffff)
  for (let at = bytes.length - endBytes; at >= first; at--) if (bytes.readUInt32LE(at) === directoryEnd) return at
  throw new OfficeError('broken', 'the archive has no directory: it may be truncated')
}
