/** The lists of operations and commands, read without loading a schema. */
import { readFileSync } from 'node:fs'
import type { Manifest } from '../operations/manifest.ts'

/** From the file that the build writes beside the bundle; run from source there is none, and the lists themselves are loaded. */
export async function loadManifest(): Promise<Manifest> {
  let text: string
  try {
    text = readFileSync(new URL('manifest.json', import.meta.url), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const { makeManifest } = await import('../operations/manifest.ts')
    return makeManifest()
  }
  return JSON.parse(text) as Manifest
}
