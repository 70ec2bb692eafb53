/** Operations are values: route, shapes, command line syntax, and the function that runs them. */
import type { z } from 'zod'
import type { Access } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Call } from './call.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Presentation of a result in the terminal without `--json`. */
export type Show =
  | { readonly as: 'field'; readonly field: string }
  | { readonly as: 'table'; readonly items: string; readonly columns: readonly string[] }
  | { readonly as: 'record' }
  | { readonly as: 'commands' }
  | { readonly as: 'nothing' }

/** Properties of every kind of operation. */
export interface Endpoint<In extends z.ZodObject> extends Access {
  readonly summary: string
  readonly description?: string
  /** Fields of path, query and body. */
  readonly input: In
  /** Error codes in addition to those of every operation; for the documents. */
  readonly errors?: readonly ErrorCode[]
}

export interface Operation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodType | null = z.ZodType | null,
> extends Endpoint<In> {
  /** Method and path template, e.g. `GET /sessions/{session_id}`. */
  readonly http: `${HttpMethod} /${string}`
  /** Alternative routes with the same behavior; clients and documents use the first one. */
  readonly aliases?: readonly `${HttpMethod} /${string}`[]
  /** Command name and positional fields, e.g. `session show <session_id>`; null for no command. */
  readonly cli: string | null
  /** A runnable command line for the help text. */
  readonly example?: string
  readonly show?: Show
  /** Shape of the response; null means 204 without a body. */
  readonly output: Out
  /** HTTP status of a successful response, when it is not always 200. */
  readonly status?: (output: z.output<NonNullable<Out>>, input: z.output<In>) => number
  /** All possible values of `status`; for the documents. */
  readonly statuses?: readonly number[]
  /** The response as NDJSON, one value per line, if the input requests it. */
  readonly lines?: (output: z.output<NonNullable<Out>>, input: z.output<In>) => readonly unknown[] | undefined
  /** Adds a warning to the response, when it belongs elsewhere than in the field `warning`. */
  readonly withWarning?: (output: z.output<NonNullable<Out>>, warning: string) => z.output<NonNullable<Out>>
  /** Content type of a text response; absent for JSON. */
  readonly text?: string
  /** Whether it opens pages of its own; a server limits how many such operations run concurrently. */
  readonly heavy?: true
  /** Whether `Idempotency-Key` is supported: repeated calls create the resource once. */
  readonly idempotent?: true
  /** For idempotent operations with large responses: what to store of one, and how to rebuild it. */
  readonly replay?: Replay<z.output<NonNullable<Out>>>
  /** Whether it continues existing work; a draining server still accepts it, like every GET and DELETE. */
  readonly allowedWhileDraining?: true
  /** Maximum body in bytes, when the default is too small. */
  readonly bodyBytes?: number
  run(engine: Engine, input: z.output<In>, call: Call): Out extends z.ZodType ? Promise<z.output<Out>> : Promise<void>
}

/** Stores a small note in place of a response that may be large. */
interface Replay<Answer> {
  summarize(output: Answer): unknown
  restore(engine: Engine, note: never, call: Call): Promise<Answer>
}

export function defineOperation<In extends z.ZodObject, Out extends z.ZodType | null>(
  operation: Operation<In, Out>,
): Operation<In, Out> {
  return operation
}

/** Splits the route of an operation into method and path. */
export function route(http: string): { method: HttpMethod; path: string } {
  const space = http.indexOf(' ')
  return { method: http.slice(0, space) as HttpMethod, path: http.slice(space + 1) }
}

/** Returns all routes of an operation or stream. */
export const routesOf = ({ http, aliases = [] }: { http: string; aliases?: readonly string[] }) => [http, ...aliases]

/** Returns the names of the `{fields}` of a path template; a final `{name*}` matches the rest of the path. */
export const pathFields = (path: string): string[] => [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name!)
