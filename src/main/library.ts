/** The library: `import { connect } from 'bax'`. */
import type { Io } from '../cli/io.ts'
import { loadManifest } from '../cli/parse/manifest.ts'
import { readSettings } from '../cli/settings.ts'
import { type GlobalFlags, globalFlagKinds } from '../core/config/settings.ts'
import { BaxError } from '../core/errors/errors.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import { openConnection } from '../library/connection.ts'
import { hostOf } from './host.ts'

export { BaxError } from '../core/errors/errors.ts'

/** Warnings for a person are those of Node; nothing is printed. */
const warnings = { write: (text: string | Uint8Array) => process.emitWarning(String(text).trim(), 'BaxWarning') }

/** Flags about output, which the library does not print. */
const ofOutput = new Set(['json', 'contentBoundaries'])
/** Options by name, with the type of their values. */
const kinds: ReadonlyMap<string, string> = new Map(
  [...globalFlagKinds, ['key', 'string'] as const].filter(([name]) => !ofOutput.has(name)),
)

/** @throws BaxError `invalid_request`: an option that is ignored could select another engine. */
function checkOptions(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    const kind = kinds.get(name)
    if (!kind)
      throw new BaxError('invalid_request', `${name} is not an option of connect${didYouMean(name, kinds.keys())}`)
    if (value === '') throw new BaxError('invalid_request', `${name} must not be empty`)
    if (value !== undefined && typeof value !== kind)
      throw new BaxError('invalid_request', `${name} must be a ${kind}, not ${JSON.stringify(value)}`)
  }
}

/** The settings are those of a command in the same folder, unless options replace them. */
export async function connect(options: GlobalFlags & { readonly key?: string } = {}): Promise<unknown> {
  checkOptions(options)
  const { key, ...flags } = options
  const io: Io = {
    stdin: process.stdin,
    stdout: warnings,
    stderr: warnings,
    env: process.env,
    cwd: process.cwd(),
    signal: new AbortController().signal,
    host: hostOf(import.meta.dirname),
  }
  try {
    const settings = readSettings(flags, io)
    const manifest = await loadManifest(io)
    return openConnection({ io, manifest, settings: { ...settings, ...(key && { apiKey: key }) } })
  } catch (error) {
    throw error instanceof BaxError ? ofOption(error) : error
  }
}

const withoutDashes = (text: string) => text.replaceAll(/(?<![\w-])--(?=[a-z])/g, '')

/** Options are written without dashes. */
const ofOption = ({ code, message, hint, cause }: BaxError): BaxError =>
  new BaxError(code, withoutDashes(message), { ...(hint && { hint: withoutDashes(hint) }), cause })
