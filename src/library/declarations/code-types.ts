/** Makes the types of the functions that code can call, from the declarations of commands and operations. */
import { catalogue } from '../../commands/index.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { codeFunctions, type CodeFunction, sessionPlacement } from '../../operations/code-functions.ts'
import { type CommandEntry, makeManifest } from '../../operations/manifest.ts'
import { schemaOf } from '../../server/openapi/schemas.ts'
import { comment, indented, type Schema, shapeName, typeOf } from './schema-type.ts'
import { block, capitalized, errorCodes, inputName, isEmpty, returned, shape, unwrapped } from './signatures.ts'

/** A function, and the declaration of its fields. */
interface Declared {
  readonly methods: string
  readonly fields?: string
}

type Shapes = Record<string, Schema>

/**
 * Returns the declarations of the globals of code, with these functions, or with all. Types are in a namespace, so that
 * they replace none of others. @throws BaxError `invalid_request` for an unknown function
 */
export function makeCodeTypes(names: readonly string[] = []): string {
  const functions = names.length > 0 ? names.map(functionNamed) : [...codeFunctions.values()]
  const entries = new Map(makeManifest().commands.map((entry) => [entry.name, entry]))
  const shapes: Shapes = {}
  const declared = functions.map((one) =>
    'command' in one ? commandFunction(one, entries.get(one.name)!, shapes) : operationFunction(one, shapes),
  )
  const types = [
    block(
      'Functions',
      declared.map(({ methods }) => methods),
    ),
    ...declared.flatMap(({ fields = [] }) => fields),
    ...Object.entries(shapes).map(([name, schema]) => shape(shapeName(name), schema)),
    failure,
    errorCodes,
  ]
  return `${globals}\ndeclare namespace bax {\n${indented(types.join('\n\n'))}\n}\n`
}

function functionNamed(name: string): CodeFunction {
  const found = codeFunctions.get(name)
  if (found) return found
  const message = `no function is named ${JSON.stringify(name)}${didYouMean(name, [...codeFunctions.keys()])}`
  throw new BaxError('invalid_request', message)
}

const globals = `/** The commands and operations of bax. */
declare const bax: bax.Functions

/** Values of \`--args\`. */
declare const args: Record<string, any>

interface Console {
  log(...values: unknown[]): void
  info(...values: unknown[]): void
  debug(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

declare var console: Console
`

const failure = `/** Error of a failed call. */
export interface Failure extends Error {
  readonly code: ErrorCode
  readonly hint?: string
  readonly details?: unknown
}`

function operationFunction(
  { name, operation }: Extract<CodeFunction, { readonly operation: unknown }>,
  shapes: Shapes,
): Declared {
  const schema = schemaOf(operation.input, 'input', shapes) as Schema
  const required = (schema.required ?? []).filter((field) => field !== 'session_id' || !sessionPlacement(operation))
  const input = isEmpty(schema) ? '{}' : inputName(name)
  return {
    methods: `${comment({ description: operation.summary })}${name}(input${required.length > 0 ? '' : '?'}: ${input}): ${returned(operation, shapes)}`,
    ...(!isEmpty(schema) && { fields: `export interface ${input} ${typeOf({ ...schema, required })}` }),
  }
}

function commandFunction(
  { name, positional, required }: Extract<CodeFunction, { readonly command: unknown }>,
  entry: CommandEntry,
  shapes: Shapes,
): Declared {
  const { data, result } = catalogue.get(name)!
  const schema = schemaOf(data, 'input', shapes) as Schema
  const { properties = {} } = schema
  const fields = `${name.split('_').map(capitalized).join('')}Fields`
  const answer = result ? unwrapped(schemaOf(result, 'output', shapes) as Schema, entry) : 'void'
  const method = (parameters: readonly string[]) =>
    `${comment({ description: entry.summary })}${name}(${parameters.join(', ')}): Promise<${answer}>`
  const withArguments = (names: readonly string[]) => {
    const isRest = Object.keys(properties).length > names.length
    const rest = names.length > 0 ? `Omit<${fields}, ${names.map((one) => `'${one}'`).join(' | ')}>` : fields
    return method([
      ...names.map((one) => `${one}: ${typeOf(properties[one]!)}`),
      ...(isRest ? [`options?: ${rest}`] : []),
    ])
  }
  const forms = positional.slice(required.length).map((_, at) => positional.slice(0, required.length + at + 1))
  return {
    methods: [
      ...[required, ...forms].map(withArguments),
      ...(required.length > 0 ? [method([`fields: ${fields}`])] : []),
    ].join('\n'),
    ...(!isEmpty(schema) && { fields: `export interface ${fields} ${typeOf(schema)}` }),
  }
}
