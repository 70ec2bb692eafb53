/** Loads the manifest of operations and commands without loading their schemas. */
import { readFileSync } from 'node:fs'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'

/** Reads the manifest of the build; undefined if the program runs from source. */
export const builtManifest = ({ host }: Io): Manifest | undefined =>
  host.manifest === undefined ? undefined : (JSON.parse(readFileSync(host.manifest, 'utf8')) as Manifest)

/** Reads the manifest of the build, or makes it from source. */
export async function loadManifest(io: Io): Promise<Manifest> {
  const built = builtManifest(io)
  if (built) return built
  const { makeManifest } = await import('../../operations/manifest.ts')
  return makeManifest()
}
