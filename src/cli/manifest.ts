import type { Manifest } from '../operations/manifest.ts'
import { readManifest } from './manifest-file.ts'

/** The lists of operations and commands: from the build's file, or from the lists themselves when run from source. */
export async function loadManifest(): Promise<Manifest> {
  const built = readManifest()
  if (built) return built
  const { makeManifest } = await import('../operations/manifest.ts')
  return makeManifest()
}
