/** What a step can do: every command of the catalogue and every operation, by its snake_case words. */
import { z } from 'zod'
import { catalogue, commands } from '../../commands/index.ts'
import { type Operation, pathFields, route } from '../../core/operation.ts'
import { paramsOf } from '../../core/schema-params.ts'
import { operations } from '../../operations/index.ts'
import type { Template } from './references.ts'

/** One thing that a step can do. */
export interface Verb {
  readonly name: string
  readonly summary: string
  /** A command runs through POST /commands, an operation by its own address. */
  readonly call:
    | { readonly kind: 'command' }
    | { readonly kind: 'operation'; readonly name: string; readonly http: string }
  readonly schema: z.ZodObject
  /** Fields that hold one text. */
  readonly texts: ReadonlySet<string>
  /** Fields that a scalar or a list gives, in this order. */
  readonly positional: readonly string[]
  /** Which of the script's own sessions stands in for a `session_id` that is left out. */
  readonly uses: 'browser' | 'shell' | null
  /** Where a picture is written; secrets are kept out of its name. */
  readonly pictureField: string | null
}

/** The fields of a call with their values. A number that a reference brings into a field of text is typed out. */
export function fieldsOf(
  { texts }: Verb,
  data: Template,
  fill: (template: Template) => unknown,
): Record<string, unknown> {
  if (data.kind !== 'map') return fill(data) as Record<string, unknown>
  return Object.fromEntries(
    data.entries.map(([field, template]) => {
      const value = fill(template)
      const isTyped = template.kind === 'reference' && (typeof value === 'number' || typeof value === 'boolean')
      return [field, isTyped && texts.has(field) ? String(value) : value]
    }),
  )
}

/** Verbs by every name that a step may use. */
export type Verbs = ReadonlyMap<string, Verb>

/** Starts a shell of the script's own; the ones that follow use it, and the end of the script stops it. */
export const startsShell = ({ call }: Verb): boolean =>
  call.kind === 'operation' && call.http === 'POST /shell/sessions'

type AnyOperation = Pick<Operation, 'summary' | 'http' | 'cli' | 'input'>

/** The verbs of these operations and of the catalogue; a command goes before an operation of its name. */
export function makeVerbs(all: Readonly<Record<string, unknown>> = operations): Verbs {
  const verbs = new Map<string, Verb>()
  for (const [name, value] of Object.entries(all)) {
    // Streams answer without end; a step needs an answer.
    if (typeof (value as { run?: unknown }).run !== 'function') continue
    const operation = value as AnyOperation
    if (operation.cli === null) continue
    const verb = verbOfOperation(name, operation)
    for (const spelling of [verb.name, wireName(operation)])
      if (spelling && !verbs.has(spelling)) verbs.set(spelling, verb)
  }
  for (const [name] of catalogue) verbs.set(name, verbOfCommand(name))
  return verbs
}

function verbOfOperation(name: string, { summary, http, cli, input }: AnyOperation): Verb {
  const words = cli!.split(' ')
  const placed = words.flatMap((word) => /^[<[](\w+)/.exec(word)?.[1] ?? [])
  const { path } = route(http)
  const takesSession = Object.hasOwn(input.shape, 'session_id')
  const uses = !takesSession || path.startsWith('/v1/') ? null : path.startsWith('/shell/') ? 'shell' : 'browser'
  const required = requiredFields(input).filter((field) => !(uses && field === 'session_id'))
  return {
    name: words.filter((word) => /^\w/.test(word)).join('_').replaceAll('-', '_'), // prettier-ignore
    summary,
    call: { kind: 'operation', name, http },
    schema: input,
    texts: textFields(input),
    positional: placed.length > 0 ? placed : required,
    uses,
    pictureField: null,
  }
}

/** `POST /browser_step` is browser_step, whatever the terminal calls it; collections have no name of this kind. */
function wireName({ http, cli }: AnyOperation): string | undefined {
  const { method, path } = route(http)
  if (method !== 'POST' || pathFields(path).length > 0) return undefined
  const name = path.replace(/^\/(v\d+\/)?/, '').replaceAll('/', '_')
  const verb = cli!.split(' ').findLast((word) => /^\w/.test(word))!.replaceAll('-', '_') // prettier-ignore
  return name.split('_').includes(verb) ? name : undefined
}

const families: Readonly<Record<string, object>> = commands

function verbOfCommand(name: string): Verb {
  const { data, summary } = catalogue.get(name)!
  const required = requiredFields(data)
  const family = Object.keys(families).find((key) => Object.hasOwn(families[key]!, name))
  return {
    name,
    summary,
    call: { kind: 'command' },
    schema: data,
    texts: textFields(data),
    positional: required.length > 0 ? required : Object.keys(data.shape).slice(0, 1),
    uses: 'browser',
    pictureField: family === 'screenshot' && Object.hasOwn(data.shape, 'path') ? 'path' : null,
  }
}

const textFields = (schema: z.ZodObject): ReadonlySet<string> =>
  new Set(paramsOf(schema).flatMap(({ name, type, choices }) => (type === 'string' && !choices ? [name] : [])))

const requiredFields = (schema: z.ZodObject): string[] =>
  paramsOf(schema).flatMap(({ name, required }) => (required ? [name] : []))
