import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the ID of this build, which changes with any of its files; `source` outside of builds. */
export function buildId(): string {
  try {
    return readFileSync(join(import.meta.dirname, 'build-id'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'source'
    throw error
  }
}
