/** A stream is an operation whose answer comes in frames: server-sent events, or the same objects one a line. */
import type { z } from 'zod'
import type { Access } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Call, HttpMethod } from './operation.ts'

/** What every frame has; the rest depends on its type. */
export interface Frame {
  /** Position in the stream, for `Last-Event-ID`. */
  readonly seq: number
  /** ISO 8601 UTC; of relay events milliseconds since 1970, by the browser's clock. */
  readonly ts: string | number
  readonly type: string
}

export interface StreamCall extends Call {
  /** The last frame that the caller has seen (`Last-Event-ID`, or `since`); undefined starts now. */
  readonly since: number | undefined
}

export interface StreamOperation<In extends z.ZodObject = z.ZodObject> extends Access {
  readonly summary: string
  readonly description?: string
  readonly http: `${HttpMethod} /${string}`
  readonly cli: string | null
  readonly example?: string
  readonly input: In
  /** Shape of one frame, for the documents. */
  readonly frame: z.ZodType
  /** Largest body in bytes where the usual bound is too small. */
  readonly bodyBytes?: number
  readonly errors?: readonly ErrorCode[]
  /** There may be nothing to follow any more; for the documents. */
  readonly mayBeOver?: true
  /** Null when there is nothing to follow any more: answered 204, which stops an EventSource for good. */
  open(engine: Engine, input: z.output<In>, call: StreamCall): Promise<AsyncIterable<Frame> | null>
}

export function defineStream<In extends z.ZodObject>(stream: StreamOperation<In>): StreamOperation<In> {
  return stream
}
