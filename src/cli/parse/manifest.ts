/** Loads the manifest of operations and commands without loading their schemas or code. */
import { readFileSync } from 'node:fs'
import type { Io } from '../io.ts'
import type { CliManifest } from './table-entry.ts'

let loaded: CliManifest | undefined

/** Reads the manifest of the build, or makes it from source; once in a process. */
export async function loadManifest({ host }: Pick<Io, 'host'>): Promise<CliManifest> {
  loaded ??=
    host.manifest === undefined
      ? await (await import('./make-manifest.ts')).makeCliManifest()
      : (JSON.parse(readFileSync(host.manifest, 'utf8')) as CliManifest)
  return loaded
}
