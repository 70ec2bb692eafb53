/** Bytes by their sha256, in a folder of their own: nothing in it has a name that somebody else chose. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { privateDir, temporaryBeside } from '../../../core/state/files.ts'

export interface Blob {
  readonly sha256: string
  readonly size: number
  /** Whether these bytes were here before. */
  readonly known: boolean
}

/** More bytes came than may be kept. */
export class TooManyBytes extends Error {
  constructor() {
    super('more bytes than may be kept')
    this.name = 'TooManyBytes'
  }
}

export class Blobs {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Keeps bytes that come as a stream. @throws TooManyBytes; nothing is left of them then. */
  async add(bytes: AsyncIterable<Uint8Array>, most: number): Promise<Blob> {
    await privateDir(this.#folder)
    const temporary = temporaryBeside(this.path('new'))
    const file = await open(temporary, 'wx', 0o600)
    try {
      const { sha256, size } = await fill(file, bytes, most)
      const path = this.path(sha256)
      // A file that cannot be inspected counts as missing.
      const known = (await stat(path).catch(() => undefined)) !== undefined
      if (!known) await rename(temporary, path)
      return { sha256, size, known }
    } finally {
      await file.close()
      await rm(temporary, { force: true })
    }
  }

  /** Whether all bytes are there. */
  async has(sha256: string, size: number): Promise<boolean> {
    // Missing as well when it cannot be inspected.
    const found = await stat(this.path(sha256)).catch(() => undefined)
    return found?.isFile() === true && found.size === size
  }

  /** Reads from `start` up to, not including, `end`. Rejects at the end of a whole file whose bytes have changed. */
  async *read(
    { sha256, size }: { sha256: string; size: number },
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    const hash = start === 0 && end === size ? createHash('sha256') : undefined
    let before: Uint8Array | undefined
    for await (const chunk of createReadStream(this.path(sha256), {
      start,
      end: end - 1,
    }) as AsyncIterable<Uint8Array>) {
      if (before) yield before
      hash?.update(chunk)
      before = chunk
    }
    if (hash && hash.digest('hex') !== sha256)
      throw new BaxError('artifact_not_found', 'the file of the artifact is damaged: its bytes have changed')
    if (before) yield before
  }

  path(sha256: string): string {
    return join(this.#folder, sha256)
  }
}

async function fill(file: FileHandle, bytes: AsyncIterable<Uint8Array>, most: number) {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > most) throw new TooManyBytes()
    hash.update(chunk)
    // All of it: a disk that is nearly full takes a part without a word.
    await file.writeFile(chunk)
  }
  return { sha256: hash.digest('hex'), size }
}
