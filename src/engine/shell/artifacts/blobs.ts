/** Stores bytes by their SHA-256, in a folder without any user-supplied names. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { privateDir, temporaryPath } from '../../../core/state/files.ts'

/** Thrown when a stream exceeds its limit. */
export class TooManyBytes extends Error {}

export class Blobs {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Stores a stream of at most `maxBytes`; `known` tells whether its bytes were stored before.
   * @throws TooManyBytes; nothing is stored then.
   */
  async add(bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
    await privateDir(this.#folder)
    const temporary = temporaryPath(this.path('new'))
    const file = await open(temporary, 'wx', 0o600)
    try {
      const { sha256, size } = await writeAll(file, bytes, maxBytes)
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

  /** Whether the blob exists with this size. */
  async has(sha256: string, size: number): Promise<boolean> {
    // Missing as well when it cannot be inspected.
    const found = await stat(this.path(sha256)).catch(() => undefined)
    return found?.isFile() === true && found.size === size
  }

  /**
   * Reads from `start` up to, not including, `end`. Reading a whole blob fails at its end if its bytes have changed.
   */
  async *read(
    { sha256, size }: { sha256: string; size: number },
    start: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    const hash = start === 0 && end === size ? createHash('sha256') : undefined
    let previous: Uint8Array | undefined
    for await (const chunk of createReadStream(this.path(sha256), {
      start,
      end: end - 1,
    }) as AsyncIterable<Uint8Array>) {
      if (previous) yield previous
      hash?.update(chunk)
      previous = chunk
    }
    if (hash && hash.digest('hex') !== sha256)
      throw new BaxError('artifact_not_found', 'the file of the artifact is damaged: its bytes have changed')
    if (previous) yield previous
  }

  path(sha256: string): string {
    return join(this.#folder, sha256)
  }
}

async function writeAll(file: FileHandle, bytes: AsyncIterable<Uint8Array>, maxBytes: number) {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxBytes) throw new TooManyBytes('too many bytes')
    hash.update(chunk)
    // `writeFile` writes everything; `write` may silently write less on a nearly full disk.
    await file.writeFile(chunk)
  }
  return { sha256: hash.digest('hex'), size }
}
