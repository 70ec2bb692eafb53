/** A small separate disk that a test can fill. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface SmallDisk {
  readonly path: string
  /** Fills the disk completely. */
  fill(): Promise<void>
  /** Frees the filled space. */
  empty(): Promise<void>
  close(): Promise<void>
}

/** Mounts a disk of the given size in MiB; requires root. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'bax-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path])
  const ballast = join(path, 'ballast')
  return {
    path,
    async fill() {
      const { bsize, bavail } = await statfs(path)
      await writeFile(ballast, Buffer.alloc(bsize * bavail))
    },
    empty: () => rm(ballast),
    async close() {
      await run('umount', ['--lazy', path])
      await rm(path, { recursive: true })
    },
  }
}

/** Returns why no disk can be mounted here; null if one can. */
export async function noSmallDisk(): Promise<string | null> {
  try {
    await (await mountSmallDisk(1)).close()
    return null
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.split('\n')[0]}`
  }
}
