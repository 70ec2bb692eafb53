/** The lists of operations and commands, read without loading a schema. */
import { readFileSync } from 'node:fs'
import type { Manifest } from '../../operations/manifest.ts'
import type { Io } from '../io.ts'

/** From the file of the build; undefined when the program runs from source. */
export const builtManifest = ({ host }: Io): Manifest | undefined =>
  host.manifest === undefined ? undefined : (JSON.parse(readFileSync(host.manifest, 'utf8')) as Manifest)

/** From the file of the build, or from the lists themselves. */
export async function loadManifest(io: Io): Promise<Manifest> {
  const built = builtManifest(io)
  if (built) return built
  const { makeManifest } = await import('../../operations/manifest.ts')
  return makeManifest()
}
