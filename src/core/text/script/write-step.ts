/** Writes commands as steps of a script. */
import type { Param } from '../../operation/params.ts'

/** The fields of all commands. */
export interface CommandFields {
  readonly commands: readonly { readonly name: string; readonly params: readonly Param[] }[]
}

interface WrittenCommand {
  readonly command: string
  readonly data: Readonly<Record<string, unknown>>
  /** Fields whose references, such as `${env.PASSWORD}`, are kept. */
  readonly templates?: readonly string[]
}

/** Returns a step in its shortest form: a name, a name with one field, or a name with all fields. */
export function shortStep(
  { command, data, templates = [] }: WrittenCommand,
  manifest: CommandFields,
): string | Record<string, unknown> {
  const fields = Object.entries(data).map(
    ([name, value]) => [name, templates.includes(name) ? value : literal(value)] as const,
  )
  if (fields.length === 0) return command
  const params = manifest.commands.find(({ name }) => name === command)?.params ?? []
  const required = params.filter((param) => param.required)
  const [only] = fields
  const isShort = fields.length === 1 && required.length === 1 && only![0] === required[0]!.name
  return { [command]: isShort && typeof only![1] === 'string' ? only![1] : Object.fromEntries(fields) }
}

/** Escapes what looks like a reference to a variable in a text. */
export const literalText = (text: string): string => text.replaceAll('${', '$$${')

/** Escapes references to variables, which typed text does not contain. */
export function literal(value: unknown): unknown {
  if (typeof value === 'string') return literalText(value)
  if (Array.isArray(value)) return value.map(literal)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, literal(part)]))
}
