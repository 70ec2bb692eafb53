/** Loads the manifest of operations and commands without loading their schemas. */
import { readFileSync } from 'node:fs'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'

let built: Manifest | undefined

/** Reads the manifest of the build, once in a process, or makes it from source. */
export async function loadManifest({ host }: Io): Promise<Manifest> {
  if (host.manifest !== undefined) return (built ??= JSON.parse(readFileSync(host.manifest, 'utf8')) as Manifest)
  const { makeManifest } = await import('../../operations/manifest.ts')
  return makeManifest()
}
