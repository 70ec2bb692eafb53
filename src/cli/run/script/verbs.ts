/** What a step can do: every command of the catalogue and every operation, by its snake_case words. */
import { z } from 'zod'
import { catalogue, commands } from '../../../commands/index.ts'
import { type Operation, pathFields, route } from '../../../core/operation/operation.ts'
import { paramsOf } from '../../../core/operation/schema-params.ts'
import { operations } from '../../../operations/index.ts'
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
  /** Sends input to a page, which is not to be repeated by itself. */
  readonly sendsInput: boolean
  /** Changes nothing: it can be repeated when its response was lost. */
  readonly onlyReads: boolean
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
    const spellings = namesOf(operation)
    const [first] = spellings
    if (first === undefined) continue
    const verb = verbOfOperation(first, name, operation)
    for (const spelling of spellings) if (!verbs.has(spelling)) verbs.set(spelling, verb)
  }
  for (const [name] of catalogue) verbs.set(name, verbOfCommand(name))
  return verbs
}

function verbOfOperation(name: string, operation: string, { summary, http, cli, input }: AnyOperation): Verb {
  const placed = [...(cli ?? '').matchAll(/[<[](\w+)/g)].map(([, field]) => field!)
  const { path } = route(http)
  const takesSession = Object.hasOwn(input.shape, 'session_id')
  const uses = !takesSession || path.startsWith('/v1/') ? null : path.startsWith('/shell/') ? 'shell' : 'browser'
  // A session that stands in by itself is not written where there is something else to say.
  const others = (fields: readonly string[]) => fields.filter((field) => !(uses && field === 'session_id'))
  const required = others(requiredFields(input))
  return {
    name,
    summary,
    call: { kind: 'operation', name: operation, http },
    schema: input,
    texts: textFields(input),
    positional: placed.length > 1 ? others(placed) : placed.length > 0 ? placed : required,
    uses,
    pictureField: null,
    sendsInput: false,
    onlyReads: route(http).method === 'GET',
  }
}

/**
 * `session create` is session_create; `POST /browser_step` is browser_step, whatever the terminal calls it.
 * Collections (`POST /sessions`) go by the words of the terminal alone, which say what is done with them.
 */
function namesOf({ http, cli }: AnyOperation): string[] {
  const words = (cli ?? '').split(' ').filter((word) => /^\w/.test(word)).map((word) => word.replaceAll('-', '_')) // prettier-ignore
  const { method, path } = route(http)
  const parts = path.replace(/^\/(v\d+\/)?/, '').split(/[/_]/)
  const isCall = method === 'POST' && pathFields(path).length === 0
  const byAddress = isCall && (cli === null || parts.includes(words.at(-1)!)) ? [parts.join('_')] : []
  return [...new Set([...(words.length > 0 ? [words.join('_')] : []), ...byAddress])]
}

const families: Readonly<Record<string, object>> = commands

function verbOfCommand(name: string): Verb {
  const { data, input, kind, summary } = catalogue.get(name)!
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
    sendsInput: input !== undefined,
    // Expressions can do anything.
    onlyReads: kind === 'extraction' && !name.startsWith('evaluate'),
  }
}

const textFields = (schema: z.ZodObject): ReadonlySet<string> =>
  new Set(paramsOf(schema).flatMap(({ name, type, choices }) => (type === 'string' && !choices ? [name] : [])))

const requiredFields = (schema: z.ZodObject): string[] =>
  paramsOf(schema).flatMap(({ name, required }) => (required ? [name] : []))
