/** Makes the types of the library from the declarations of operations and commands. */
import { catalogue } from '../../commands/index.ts'
import type { HttpOperation } from '../../core/operation/operation.ts'
import { operations, streams, transfers } from '../../operations/index.ts'
import { type CommandEntry, makeManifest, type OperationEntry } from '../../operations/manifest.ts'
import { schemaOf } from '../../server/openapi/schemas.ts'
import { extended, kinds, methodOf, type Owner, placesOf } from '../places.ts'
import { comment, fields, type Schema, shapeName, typeOf } from './schema-type.ts'
import { block, capitalized, errorCodes, inputName, isEmpty, returned, shape, unwrapped } from './signatures.ts'

const all: Readonly<Record<string, HttpOperation>> = { ...operations, ...streams, ...transfers }

/** Returns the declarations that belong after those of `bax.d.ts`. */
export function makeDeclarations(): string {
  const { operations: entries, commands } = makeManifest()
  const shapes: Record<string, Schema> = {}
  const members = new Map<Owner, string[]>()
  const inputs = entries.flatMap((entry) => {
    const operation = all[entry.name]!
    const schema = schemaOf(operation.input, 'input', shapes) as Schema
    const places = placesOf(entry)
    for (const { owner, method } of extended.has(entry.name) ? [] : places) {
      const text =
        comment({ description: entry.summary }) + signature(entry, operation, { owner, method, schema, shapes })
      members.set(owner, [...(members.get(owner) ?? []), text])
    }
    return isEmpty(schema) ? [] : [`export interface ${inputName(entry.name)} ${typeOf(schema)}`]
  })
  const methods = commands.map((entry) => commandSignature(entry, shapes))
  const owners = [...members].map(([owner, lines]) => block(interfaceOf(owner), lines))
  const named = Object.entries(shapes).map(([name, schema]) => shape(shapeName(name), schema))
  return [...owners, block('Commands', methods), ...inputs, ...named, errorCodes].join('\n\n')
}

const interfaceOf = (owner: Owner): string => capitalized(owner)

interface Signed {
  readonly owner: Owner
  readonly method: string
  readonly schema: Schema
  readonly shapes: Record<string, Schema>
}

function signature(entry: OperationEntry, operation: HttpOperation, { owner, method, schema, shapes }: Signed): string {
  const id = owner in kinds ? kinds[owner as keyof typeof kinds].id : undefined
  const { [id ?? '']: _, ...properties } = schema.properties ?? {}
  const isOptional = (schema.required ?? []).every((name) => name === id)
  const type = id === undefined ? inputName(entry.name) : `Omit<${inputName(entry.name)}, '${id}'>`
  const input = `input${isOptional && entry.transfer !== 'upload' ? '?' : ''}: ${isEmpty({ properties }) ? '{}' : type}`
  const body = entry.transfer === 'upload' ? ', body: UploadBody' : ''
  return `${method}(${input}${body}, call?: CallOptions): ${returned(operation, shapes)}`
}

/** Returns the method of a command. */
function commandSignature(entry: CommandEntry, shapes: Record<string, Schema>): string {
  const { data, result } = catalogue.get(entry.name)!
  const { properties = {} } = schemaOf(data, 'input', shapes) as Schema
  const { method, required, positional, hasOptions } = methodOf(entry)
  const answer = result ? unwrapped(schemaOf(result, 'output', shapes) as Schema, entry) : 'void'
  const withArguments = (names: readonly string[]) => {
    const others = Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name)))
    const parameters = [
      ...names.map((name) => `${name}: ${typeOf(properties[name]!)}`),
      ...(hasOptions ? [`options?: ${fields(others, [])}`] : []),
      'call?: CallOptions',
    ]
    return `${comment({ description: entry.summary })}${method}(${parameters.join(', ')}): Promise<${answer}>`
  }
  const forms = positional.length > required.length ? [positional, required] : [required]
  return forms.map(withArguments).join('\n')
}
