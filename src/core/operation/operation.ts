/** Operations are values: route, shapes, command line syntax, and the function that runs them. */
import type { Examples } from './examples.ts'
import type { z } from 'zod'
import type { Access } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Link } from '../net/link.ts'
import type { Call, Content, Frame, SocketCall, StreamCall } from './call.ts'
import type { Placement } from './placement.ts'
import type { Route } from './route.ts'

/** Presentation of a result in the terminal without `--json`. */
export type Show =
  | { readonly as: 'field'; readonly field: string }
  | ({ readonly as: 'table'; readonly also?: readonly TableOf[] } & TableOf)
  | { readonly as: 'record' }
  | { readonly as: 'nothing' }

/** A field with a list of objects, or one object, and the fields to show of each. */
interface TableOf {
  readonly items: string
  readonly columns: readonly string[]
}

/** Properties of every kind of operation. */
interface Endpoint<In extends z.ZodObject> extends Access {
  readonly summary: string
  readonly description?: string
  /** Fields of path, query and body. */
  readonly input: In
  /** Valid input, for the documents. */
  readonly sample?: z.input<In>
  /** Where it runs behind a gateway. */
  readonly runs: Exclude<Placement<z.output<In>>, { on: 'all' }>
  /** Error codes besides those that each operation can have by its kind and place; for the documents. */
  readonly errors?: readonly ErrorCode[]
}

/** Requires a sample of operations with required fields. */
type Sampled<In extends z.ZodObject> =
  Record<string, never> extends z.input<In> ? unknown : { readonly sample: z.input<In> }

/** Properties of operations with an HTTP route. */
interface Routed<In extends z.ZodObject> extends Endpoint<In> {
  /** Method and path template, e.g. `GET /sessions/{session_id}`. */
  readonly http: Route
  /** Tag in the documents, when it is not the first segment of the path. */
  readonly tag?: string
  /** Command name and positional fields, e.g. `session show <session_id>`; absent for no command. */
  readonly cli?: string
  /** Runnable command lines for the help text. */
  readonly example?: Examples
  /** Engine of the terminal command; absent: the one that holds the session in its input, or any. */
  readonly engine?: EngineNeed
  /** Whether the terminal command uses the session named `default` when none is named, though the field is optional. */
  readonly usesDefaultSession?: true
}

/**
 * Engine that a terminal command needs when no server is configured: `start` starts one that outlives the command,
 * `running` only uses a running one, `any` also one that ends with the command.
 */
export type EngineNeed = 'start' | 'running' | 'any'

export interface Operation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodType | null = z.ZodType | null,
> extends Omit<Routed<In>, 'runs'> {
  readonly runs: Placement<z.output<In>, z.output<NonNullable<Out>>>
  /** Alternative routes with the same behavior; clients and documents use the first one. */
  readonly aliases?: readonly Route[]
  readonly show?: Show
  /** Shape of the response; null means 204 without a body. */
  readonly output: Out
  /** HTTP status of a successful response, when it is not always 200. */
  status?(output: z.output<NonNullable<Out>>, input: z.output<In>): number
  /** All possible values of `status`; for the documents. */
  readonly statuses?: readonly number[]
  /** The response as NDJSON, one value per line, if the input requests it. */
  lines?(output: z.output<NonNullable<Out>>, input: z.output<In>): readonly unknown[] | undefined
  /** Adds a warning to the response, when it belongs elsewhere than in the field `warning`. */
  withWarning?(output: z.output<NonNullable<Out>>, warning: string): z.output<NonNullable<Out>>
  /** Content type of a text response; absent for JSON. */
  readonly text?: string
  /** Whether it opens pages of its own; a server limits how many such operations run concurrently. */
  readonly heavy?: true
  /** Whether it calls operations as its caller, with `Call.ask`. */
  readonly asks?: true
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
  restore(engine: Engine, note: unknown, call: Call): Promise<Answer>
}

export function defineOperation<In extends z.ZodObject, Out extends z.ZodType | null>(
  operation: Operation<In, Out> & Sampled<In>,
): Operation<In, Out> {
  return operation
}

/** An operation with a response in frames: server-sent events, or the same objects as NDJSON. */
export interface StreamOperation<
  In extends z.ZodObject = z.ZodObject,
  OneFrame extends z.ZodType<Frame> = z.ZodType<Frame>,
> extends Routed<In> {
  /** Shape of one frame, for clients and documents. */
  readonly frame: OneFrame
  /** Maximum body in bytes, when the default is too small. */
  readonly bodyBytes?: number
  /** Whether `open` may return null; for the documents. */
  readonly mayHaveEnded?: true
  /** Opens the stream. Returns null when it has ended: the response is 204, which makes an EventSource stop. */
  open(engine: Engine, input: z.output<In>, call: StreamCall): Promise<AsyncIterable<Frame> | null>
}

export function defineStream<In extends z.ZodObject, OneFrame extends z.ZodType<Frame>>(
  stream: StreamOperation<In, OneFrame> & Sampled<In>,
): StreamOperation<In, OneFrame> {
  return stream
}

/** Serves bytes for GET and HEAD; the server handles ranges and `If-None-Match`. */
export interface DownloadOperation<In extends z.ZodObject = z.ZodObject> extends Routed<In> {
  /** Media type of the bytes, or a wildcard range where it depends on the file. */
  readonly mediaType: string
  open(engine: Engine, input: z.output<In>, call: Call): Promise<Content>
}

export function defineDownload<In extends z.ZodObject>(
  download: DownloadOperation<In> & Sampled<In>,
): DownloadOperation<In> {
  return download
}

/** Receives a body of bytes; its fields are in the query. */
export interface UploadOperation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodType = z.ZodType,
> extends Routed<In> {
  readonly output: Out
  /** Maximum body in bytes of an upload to any worker, which a gateway reads first. */
  readonly bodyBytes?: number
  receive(engine: Engine, input: z.output<In>, body: AsyncIterable<Uint8Array>, call: Call): Promise<z.output<Out>>
}

export function defineUpload<In extends z.ZodObject, Out extends z.ZodType>(
  upload: UploadOperation<In, Out> & Sampled<In>,
): UploadOperation<In, Out> {
  return upload
}

/** An operation that continues as a duplex link: a websocket, opened by an upgrade. */
export interface SocketOperation<In extends z.ZodObject = z.ZodObject> extends Endpoint<In> {
  /** Path template; the method of an upgrade is always GET. */
  readonly http: `GET /${string}`
  /** Required subprotocol; none when absent. */
  readonly protocol?: string
  /** Accepts any subprotocol: clients of Firecrawl send their key as one. */
  readonly anyProtocol?: true
  /** Longest accepted message in bytes, uncompressed; a longer one closes the socket with code 1009. */
  readonly messageBytes: number
  /** Compresses long messages to remote clients. Compressed messages from clients may expand to `messageBytes`. */
  readonly compressed?: true
  /** Checks the caller before the upgrade; the returned function receives the open link. */
  open(engine: Engine, input: z.output<In>, call: SocketCall): Promise<(link: Link) => void>
}

export function defineSocket<In extends z.ZodObject>(socket: SocketOperation<In>): SocketOperation<In> {
  return socket
}

/** An operation with an HTTP route, so not a websocket. */
export type HttpOperation = Operation | StreamOperation | DownloadOperation | UploadOperation
