/** Parts of the declarations of the library and of code. */
import { errorTable } from '../../core/errors/errors.ts'
import type { HttpOperation } from '../../core/operation/operation.ts'
import type { CommandEntry } from '../../operations/manifest.ts'
import { schemaOf } from '../../server/openapi/schemas.ts'
import { comment, indented, type Schema, typeOf } from './schema-type.ts'

export const block = (name: string, lines: readonly string[]): string =>
  `export interface ${name} {\n${indented(lines.join('\n'))}\n}`

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
export const inputName = (operation: string): string => `${capitalized(operation)}Input`
export const isEmpty = ({ properties = {} }: Schema): boolean => Object.keys(properties).length === 0

export const errorCodes = `export type ErrorCode = ${Object.keys(errorTable)
  .map((code) => `'${code}'`)
  .join(' | ')}`

/** Returns the declaration of a named shape. */
export function shape(name: string, schema: Schema): string {
  const { properties, additionalProperties } = schema
  const text = properties && !additionalProperties ? `interface ${name} ` : `type ${name} = `
  return `${comment(schema)}export ${text}${typeOf(schema)}`
}

/** Returns the type of what the method of an operation returns. */
export function returned(operation: HttpOperation, shapes: Record<string, Schema>): string {
  if ('mediaType' in operation) return 'Promise<Download>'
  if ('frame' in operation) return `AsyncGenerator<${typeOf(schemaOf(operation.frame, 'output', shapes))}>`
  const { output } = operation
  return `Promise<${output === null ? 'void' : typeOf(schemaOf(output, 'output', shapes))}>`
}

/** Returns the type of a result, in which a value stands without the name of its type. */
export function unwrapped(schema: Schema, { returns }: CommandEntry): string {
  const value = schema.properties?.['result']?.properties?.['value']
  if (!value) return typeOf(schema)
  return returns === 'value'
    ? typeOf(value)
    : typeOf({ ...schema, properties: { ...schema.properties, result: value } })
}
