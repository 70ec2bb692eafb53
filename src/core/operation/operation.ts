/** An operation is a value: its address, its shapes, its spelling in the terminal, and the lines that run it. */
import type { z } from 'zod'
import type { Access, Caller } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Service } from './service.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Facts of one call that are not part of its input. */
export interface Call {
  /** Who calls; what it makes belongs to it. */
  readonly caller: Caller
  /** Aborted when the caller goes away; the work it asked for is then cancelled. */
  readonly signal: AbortSignal
  /** `http://host:port` as the caller reached us, without a trailing slash; empty where no HTTP address is served. URLs in responses start with it. */
  readonly baseUrl: string
  /** The same for websockets; null where none are served. */
  readonly socketBaseUrl: string | null
  readonly requestId: string
  /** What the caller has shown in a header: a key, or a token where one is asked for. */
  readonly token?: string | null
  /** The caller would rather not wait for work that can go on by itself (`Prefer: respond-async`). */
  readonly preferAsync?: boolean
  /** The server that the call came by; absent within a process. */
  readonly service?: Service
}

/** How the terminal shows a result when `--json` is not given. */
export type Show =
  | { readonly as: 'field'; readonly field: string }
  | { readonly as: 'table'; readonly items: string; readonly columns: readonly string[] }
  | { readonly as: 'record' }
  | { readonly as: 'commands' }
  | { readonly as: 'nothing' }

export interface Operation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodType | null = z.ZodType | null,
> extends Access {
  readonly summary: string
  readonly description?: string
  /** Method and path template, e.g. `GET /sessions/{session_id}`. */
  readonly http: `${HttpMethod} /${string}`
  /** Other addresses that answer in the same way; clients and documents name the first one. */
  readonly aliases?: readonly `${HttpMethod} /${string}`[]
  /** Words and positional fields, e.g. `session show <session_id>`; null keeps it off the command line. */
  readonly cli: string | null
  /** A runnable line for the help text. */
  readonly example?: string
  readonly show?: Show
  readonly input: In
  /** Shape of the answer; null means 204 without a body. */
  readonly output: Out
  /** HTTP status of a successful answer that is not always 200. */
  readonly status?: (output: z.output<NonNullable<Out>>, input: z.output<In>) => number
  /** All that `status` can answer; for the documents. */
  readonly statuses?: readonly number[]
  /** The answer as NDJSON, one value a line, where the input asks for it. */
  readonly lines?: (output: z.output<NonNullable<Out>>, input: z.output<In>) => readonly unknown[] | undefined
  /** The answer with its warning, where that stands elsewhere than in its own `warning`. */
  readonly warned?: (output: z.output<NonNullable<Out>>, warning: string) => z.output<NonNullable<Out>>
  /** The answer is text of this content type, not JSON. */
  readonly text?: string
  /** Works on pages of its own while it runs: a server bounds how many do at once. */
  readonly heavy?: true
  /** `Idempotency-Key` is obeyed: what is made by it is made once. */
  readonly idempotent?: true
  /** Of an idempotent one: what is kept of a large answer, and how the same answer is had from it again. */
  readonly replay?: Replay<z.output<NonNullable<Out>>>
  /** Goes on with what runs already: a server that is about to end still takes it, as it does every GET and DELETE. */
  readonly goesOn?: true
  /** Largest body in bytes where the usual bound is too small. */
  readonly bodyBytes?: number
  /** Codes that this operation can answer beside those every operation can; for the documents. */
  readonly errors?: readonly ErrorCode[]
  run(engine: Engine, input: z.output<In>, call: Call): Out extends z.ZodType ? Promise<z.output<Out>> : Promise<void>
}

/** Keeps little in place of an answer that may be large. */
interface Replay<Answer> {
  note(output: Answer): unknown
  again(engine: Engine, note: never, call: Call): Promise<Answer>
}

export function defineOperation<In extends z.ZodObject, Out extends z.ZodType | null>(
  operation: Operation<In, Out>,
): Operation<In, Out> {
  return operation
}

/** Method and path of an operation. */
export function route(http: string): { method: HttpMethod; path: string } {
  const space = http.indexOf(' ')
  return { method: http.slice(0, space) as HttpMethod, path: http.slice(space + 1) }
}

/** Every address at which an operation or a stream answers. */
export const routesOf = ({ http, aliases = [] }: { http: string; aliases?: readonly string[] }): readonly string[] => [
  http,
  ...aliases,
]

/** Names of the `{fields}` of a path template; a last one with a star takes the rest of the path. */
export const pathFields = (path: string): string[] => [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name!)
