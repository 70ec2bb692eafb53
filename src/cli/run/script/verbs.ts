/** The actions of steps: every command of the catalogue and every operation, by its snake_case name. */
import { z } from 'zod'
import { catalogue } from '../../../commands/index.ts'
import type { Operation } from '../../../core/operation/operation.ts'
import { pathFields, route } from '../../../core/operation/route.ts'
import type { Command, PositionalForms } from '../../../core/operation/command.ts'
import type { Param } from '../../../core/operation/params.ts'
import { formsOf } from '../../../core/operation/positional.ts'
import { paramsOf } from '../../../core/operation/schema-params.ts'
import { operations } from '../../../operations/index.ts'
import { spellings } from '../../parse/command-table.ts'
import { renameCommands } from '../../parse/command-names.ts'
import { snakeCase } from '../../../lines/values.ts'
import type { Template } from './references.ts'

/** An action of a step. */
export interface Verb {
  readonly name: string
  readonly summary: string
  /** Route of an operation; null for commands, which are sent to POST /commands. */
  readonly http: string | null
  readonly schema: z.ZodObject
  /** Names of fields with text, or with a list of texts. */
  readonly texts: ReadonlySet<string>
  /** Forms in which a single value or a list sets fields. */
  readonly forms: PositionalForms
  readonly params: readonly Param[]
  /** The script's own session or shell that is the default of `session_id`. */
  readonly uses: 'browser' | 'shell' | null
  /** Field with the path of a file for the result, in which secrets are masked. */
  readonly pathField: string | null
  /** Fields that the spelling sets: `dialog accept` sets `accept`. */
  readonly preset?: Readonly<Record<string, unknown>>
  /** Further actions with this spelling, of which the value chooses one: `tab` lists tabs, `tab: tab_1` selects one. */
  readonly others?: readonly Verb[]
  /** Field of the result with the base64 data of this file. */
  readonly bytes?: string
  /** Field with local files, which are uploaded first. */
  readonly localFiles?: string
  /** Whether the action sends input to a page, and so must not be repeated automatically. */
  readonly sendsInput: boolean
  /** Whether the action changes nothing, so that it can be repeated when its response is lost. */
  readonly onlyReads: boolean
}

/** Resolves the fields of a call. Numbers and booleans become text in text fields, names of commands their wire names. */
export function fieldsOf(
  { schema, texts }: Verb,
  data: Template,
  fill: (template: Template) => unknown,
): Record<string, unknown> {
  if (data.kind !== 'map') return fill(data) as Record<string, unknown>
  const fields = Object.fromEntries(
    data.entries.map(([field, template]) => {
      const value = fill(template)
      return [field, texts.has(field) ? plainText(value, template) : value]
    }),
  )
  return Object.hasOwn(schema.shape, 'commands') ? renameCommands(fields) : fields
}

/** Converts numbers and booleans to text, as they are written in the script: `007` stays `007`. */
function plainText(value: unknown, template: Template): unknown {
  if (Array.isArray(value)) {
    const items = template.kind === 'list' ? template.items : []
    return value.map((item, index) => plainText(item, items[index] ?? template))
  }
  if (typeof value !== 'number' && typeof value !== 'boolean') return value
  return (template.kind === 'value' ? template.source : undefined) ?? String(value)
}

/** Actions by name; an action can have several names. */
export type Verbs = ReadonlyMap<string, Verb>

/** `navigate-to` and `navigate to` are `navigate_to`, as on the command line. */
const wireName = (typed: string): string => snakeCase(typed).replaceAll(' ', '_')

/** Finds actions also by the spellings of the command line. */
class VerbMap extends Map<string, Verb> {
  override get(name: string): Verb | undefined {
    return super.get(wireName(name))
  }

  override has(name: string): boolean {
    return super.has(wireName(name))
  }
}

/** Whether an action creates the script's own shell, which later steps use and the end of the script stops. */
export const startsShell = ({ http }: Verb): boolean => http === operations.createShell.http

/** Operations that send input to a page. */
const { browserStep, runCode, runCommands } = operations
const sending: ReadonlySet<string> = new Set([browserStep, runCode, runCommands].map(({ http }) => http))

type AnyOperation = Pick<Operation, 'summary' | 'http' | 'cli' | 'input'>

/** Returns the actions for these operations and all commands; a command overrides an operation with the same name. */
export function makeVerbs(all: Readonly<Record<string, unknown>> = operations): Verbs {
  const verbs = new VerbMap()
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
  addSpellings(verbs)
  return verbs
}

/** Adds the other spellings of the command line, such as `press` and `dialog accept`; names of actions take precedence. */
function addSpellings(verbs: Map<string, Verb>): void {
  const spelled: [string, Verb][] = [...catalogue].flatMap(([name, { also = [], positional }]) =>
    also.map((spelling): [string, Verb] => {
      const { words, data = {}, positional: own } = typeof spelling === 'string' ? { words: spelling } : spelling
      const verb = verbs.get(name)!
      const open = verb.params.filter(({ name: field }) => !(field in data))
      const declared = own ?? positional?.filter((form) => !form.some((field) => field in data))
      return [words, { ...verb, preset: data, ...(declared && { forms: formsOf(open, declared) }) }]
    }),
  )
  // A script has a session of its own, in which `open` opens the page.
  spelled.push(['open', verbs.get('navigate_to')!])
  for (const [typed, words] of Object.entries(spellings)) {
    const verb = verbs.get(wireName(words))
    if (verb) spelled.push([typed, verb])
  }
  const named = new Set(verbs.keys())
  for (const [words, verb] of spelled) {
    const name = wireName(words)
    if (named.has(name)) continue
    const first = verbs.get(name)
    verbs.set(name, first ? { ...first, others: [...(first.others ?? []), verb] } : verb)
  }
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
    forms: [placed.length > 1 ? others(placed) : placed.length > 0 ? placed : required],
    params: paramsOf(input),
    uses,
    pathField: null,
    sendsInput: sending.has(http),
    onlyReads: method === 'GET',
  }
}

/**
 * Returns the names of an operation: the CLI command (`session create` is session_create) and, for calls such as
 * `POST /browser_step`, the path. Collections (`POST /sessions`) only have the name of the CLI command, as their path
 * does not tell what is done with them.
 */
function namesOf({ http, cli }: AnyOperation): string[] {
  const words = (cli ?? '')
    .split(' ')
    .filter((word) => /^\w/.test(word))
    .map((word) => word.replaceAll('-', '_'))
  const { method, path } = route(http)
  const parts = path.replace(/^\/(v\d+\/)?/, '').split(/[/_]/)
  const isCall = method === 'POST' && pathFields(path).length === 0
  const byAddress = isCall && (cli === undefined || parts.includes(words.at(-1) ?? '')) ? [parts.join('_')] : []
  return [...new Set([...(words.length > 0 ? [words.join('_')] : []), ...byAddress])]
}

function verbOfCommand(name: string, { data, input, kind, summary, bytes, positional, localFiles }: Command): Verb {
  const params = paramsOf(data)
  const required = requiredFields(data)
  return {
    name,
    summary,
    http: null,
    schema: data,
    texts: textFields(data),
    forms: positional
      ? formsOf(params, positional)
      : [required.length > 0 ? required : Object.keys(data.shape).slice(0, 1)],
    params,
    uses: 'browser',
    pathField: bytes && Object.hasOwn(data.shape, 'path') ? 'path' : null,
    ...(bytes && { bytes }),
    ...(localFiles && { localFiles }),
    sendsInput: input !== undefined,
    // Evaluated expressions can have side effects.
    onlyReads: kind === 'extraction' && !name.startsWith('evaluate'),
  }
}

const textFields = (schema: z.ZodObject): ReadonlySet<string> =>
  new Set(
    paramsOf(schema)
      .filter(
        ({ type, choices, itemChoices }) => (type === 'string' || type === 'string[]') && !choices && !itemChoices,
      )
      .map(({ name }) => name),
  )

const requiredFields = (schema: z.ZodObject): string[] =>
  paramsOf(schema).flatMap(({ name, required }) => (required ? [name] : []))
