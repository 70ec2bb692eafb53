/** The library: `import { connect } from 'bax'`. */
import type { Io } from '../cli/io.ts'
import { loadManifest } from '../cli/parse/manifest.ts'
import { readSettings } from '../cli/settings.ts'
import type { GlobalFlags } from '../core/config/settings.ts'
import { openConnection } from '../library/connection.ts'
import { hostOf } from './host.ts'

export { BaxError } from '../core/errors/errors.ts'

/** Warnings for a person are those of Node; nothing is printed. */
const warnings = { write: (text: string | Uint8Array) => process.emitWarning(String(text).trim(), 'BaxWarning') }

/** The settings are those of a command in the same folder, unless options replace them. */
export async function connect({ key, ...flags }: GlobalFlags & { readonly key?: string } = {}): Promise<unknown> {
  const io: Io = {
    stdin: process.stdin,
    stdout: warnings,
    stderr: warnings,
    env: process.env,
    cwd: process.cwd(),
    signal: new AbortController().signal,
    host: hostOf(import.meta.dirname),
  }
  const settings = readSettings(flags, io)
  return openConnection({
    io,
    manifest: await loadManifest(io),
    settings: { ...settings, ...(key && { apiKey: key }) },
  })
}
