/** Converts typed commands to a script for `bax run`. */
import type { Manifest } from '../../operations/manifest.ts'
import type { TypedCommand } from '../../tui/host.ts'
import { findEntry, requiredOf } from '../parse/batch.ts'

export async function writeScript(
  commands: readonly TypedCommand[],
  { name }: { readonly name: string },
  manifest: Manifest,
): Promise<string> {
  const { default: yaml } = await import('yaml')
  return yaml.stringify({ name, steps: commands.map((command) => stepOf(command, manifest)) }, { lineWidth: 0 })
}

/** Returns a step in its shortest form: a name, a name with one field, or a name with all fields. */
function stepOf({ command, data }: TypedCommand, manifest: Manifest): unknown {
  const fields = Object.entries(data).map(([name, value]) => [name, literal(value)] as const)
  if (fields.length === 0) return command
  const entry = findEntry(command, manifest)
  const required = entry ? requiredOf(entry) : []
  const [only, ...others] = fields
  const [field, ...more] = required
  const isShort = others.length === 0 && more.length === 0 && only?.[0] === field?.name
  return { [command]: isShort && typeof only?.[1] === 'string' ? only[1] : Object.fromEntries(fields) }
}

/** Escapes references to variables: typed text has none. */
function literal(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', '$$${')
  if (Array.isArray(value)) return value.map(literal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, literal(part)]))
}
