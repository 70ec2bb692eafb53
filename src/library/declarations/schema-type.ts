/** TypeScript of JSON Schema, as far as the declarations use it. */

export interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly type?: string | readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
  readonly default?: unknown
}

/** Names of shapes that the library uses for something else. */
const renamed: Readonly<Record<string, string>> = { Session: 'SessionRecord' }

export const shapeName = (name: string): string => renamed[name] ?? name

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

/** Returns the type of a value. */
export function typeOf(schema: Schema): string {
  const { $ref, enum: choices, type } = schema
  if ($ref !== undefined) return shapeName($ref.replace(/^.*\//, ''))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (choices) return union(choices.map((choice) => JSON.stringify(choice)))
  const options = schema.anyOf ?? schema.oneOf
  if (options) return union(options.map(typeOf))
  if (Array.isArray(type)) return union(type.map((one: string) => typeOf({ ...schema, type: one })))
  if (type === 'array') return `Array<${schema.items ? typeOf(schema.items) : 'unknown'}>`
  if (type === 'object') return objectType(schema)
  if (type === 'integer') return 'number'
  return (type as string | undefined) ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties: others }: Schema): string {
  const types = properties ? [fields(properties, required)] : []
  if (others || !properties) types.push(`Record<string, ${typeof others === 'object' ? typeOf(others) : 'unknown'}>`)
  return types.join(' & ')
}

/** Returns the fields of an object, with what their schemas say about them. */
export function fields(properties: Readonly<Record<string, Schema>>, required: readonly string[]): string {
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `${comment(schema)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`
  })
  return lines.length === 0 ? '{}' : `{\n${indented(lines.join('\n'))}\n}`
}

/** Returns a comment for editors. */
export function comment({ description, default: preset }: Pick<Schema, 'description' | 'default'>): string {
  const parts = [description, preset === undefined ? undefined : `Default: \`${JSON.stringify(preset)}\``]
  const text = parts.filter((part) => part !== undefined).join('. ')
  return text === '' ? '' : `/** ${text.replaceAll('*/', '*\\/')} */\n`
}

export const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ')
