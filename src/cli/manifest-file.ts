/** The lists of operations and commands as the build writes them, read without loading a schema. */
import { readFileSync } from 'node:fs'
import type { Manifest } from '../operations/manifest.ts'

/** Undefined when the program runs from source, where no build has written the file. */
export function readManifest(): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(new URL('manifest.json', import.meta.url), 'utf8')) as Manifest
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
