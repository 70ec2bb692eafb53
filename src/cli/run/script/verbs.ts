/** The actions of steps: every command of the catalogue and every operation, by its snake_case name. */
import { z } from 'zod'
import { catalogue } from '../../../commands/index.ts'
import type { Operation } from '../../../core/operation/operation.ts'
import { pathFields, route } from '../../../core/operation/route.ts'
import type { Command } from '../../../core/operation/command.ts'
import { paramsOf } from '../../../core/operation/schema-params.ts'
import { operations } from '../../../operations/index.ts'
import type { Template } from './references.ts'

/** An action of a step. */
export interface Verb {
  readonly name: string
  readonly summary: string
  /** Route of an operation; null for commands, which are sent to POST /commands. */
  readonly http: string | null
  readonly schema: z.ZodObject
  /** Names of text fields. */
  readonly texts: ReadonlySet<string>
  /** Fields in the order in which a single value or a list sets them. */
  readonly positional: readonly string[]
  /** The script's own session or shell that is the default of `session_id`. */
  readonly uses: 'browser' | 'shell' | null
  /** Field with the file name of a screenshot, in which secrets are masked. */
  readonly screenshotField: string | null
  /** Whether the action sends input to a page, and so must not be repeated automatically. */
  readonly sendsInput: boolean
  /** Whether the action changes nothing, so that it can be repeated when its response is lost. */
  readonly onlyReads: boolean
}

/** Resolves the fields of a call. Numbers and booleans from references become text in text fields. */
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

/** Actions by name; an action can have several names. */
export type Verbs = ReadonlyMap<string, Verb>

/** Whether an action creates the script's own shell, which later steps use and the end of the script stops. */
export const startsShell = ({ http }: Verb): boolean => http === 'POST /shell/sessions'

type AnyOperation = Pick<Operation, 'summary' | 'http' | 'cli' | 'input'>

/** Returns the actions for these operations and all commands; a command overrides an operation with the same name. */
export function makeVerbs(all: Readonly<Record<string, unknown>> = operations): Verbs {
  const verbs = new Map<string, Verb>()
  for (const value of Object.values(all)) {
    // Streams have no result that a step could use.
    if (typeof (value as { run?: unknown }).run !== 'function') continue
    const operation = value as AnyOperation
    const names = namesOf(operation)
    if (names[0] === undefined) continue
    const verb = verbOfOperation(names[0], operation)
    for (const alias of names) if (!verbs.has(alias)) verbs.set(alias, verb)
  }
  for (const [name, command] of catalogue) verbs.set(name, verbOfCommand(name, command))
  return verbs
}

function verbOfOperation(name: string, { summary, http, cli, input }: AnyOperation): Verb {
  const placed = [...(cli ?? '').matchAll(/[<[](\w+)/g)].map(([, field]) => field!)
  const { method, path } = route(http)
  const takesSession = Object.hasOwn(input.shape, 'session_id')
  const uses = !takesSession || path.startsWith('/v1/') ? null : path.startsWith('/shell/') ? 'shell' : 'browser'
  // The own session is a default, so it takes no positional value where other fields can.
  const others = (fields: readonly string[]) => fields.filter((field) => !(uses && field === 'session_id'))
  const required = others(requiredFields(input))
  return {
    name,
    summary,
    http,
    schema: input,
    texts: textFields(input),
    positional: placed.length > 1 ? others(placed) : placed.length > 0 ? placed : required,
    uses,
    screenshotField: null,
    sendsInput: false,
    onlyReads: method === 'GET',
  }
}

/**
 * Returns the names of an operation: the CLI command (`session create` is session_create) and, for calls such as
 * `POST /browser_step`, the path. Collections (`POST /sessions`) only have the name of the CLI command, as their path
 * does not tell what is done with them.
 */
function namesOf({ http, cli }: AnyOperation): string[] {
  const words = (cli ?? '').split(' ').filter((word) => /^\w/.test(word)).map((word) => word.replaceAll('-', '_')) // prettier-ignore
  const { method, path } = route(http)
  const parts = path.replace(/^\/(v\d+\/)?/, '').split(/[/_]/)
  const isCall = method === 'POST' && pathFields(path).length === 0
  const byAddress = isCall && (cli === undefined || parts.includes(words.at(-1) ?? '')) ? [parts.join('_')] : []
  return [...new Set([...(words.length > 0 ? [words.join('_')] : []), ...byAddress])]
}

function verbOfCommand(name: string, { data, input, kind, summary, bytes }: Command): Verb {
  const required = requiredFields(data)
  return {
    name,
    summary,
    http: null,
    schema: data,
    texts: textFields(data),
    positional: required.length > 0 ? required : Object.keys(data.shape).slice(0, 1),
    uses: 'browser',
    screenshotField: bytes && Object.hasOwn(data.shape, 'path') ? 'path' : null,
    sendsInput: input !== undefined,
    // Evaluated expressions can have side effects.
    onlyReads: kind === 'extraction' && !name.startsWith('evaluate'),
  }
}

const textFields = (schema: z.ZodObject): ReadonlySet<string> =>
  new Set(paramsOf(schema).flatMap(({ name, type, choices }) => (type === 'string' && !choices ? [name] : [])))

const requiredFields = (schema: z.ZodObject): string[] =>
  paramsOf(schema).flatMap(({ name, required }) => (required ? [name] : []))
