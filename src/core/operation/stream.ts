/** Streams are operations with a response in frames: server-sent events, or the same objects as NDJSON. */
import type { z } from 'zod'
import type { Frame, StreamCall } from './call.ts'
import type { Engine } from '../engine.ts'
import type { Endpoint, HttpMethod } from './operation.ts'

export interface StreamOperation<In extends z.ZodObject = z.ZodObject> extends Endpoint<In> {
  readonly http: `${HttpMethod} /${string}`
  readonly cli: string | null
  readonly example?: string
  /** Shape of one frame, for the documents. */
  readonly frame: z.ZodType
  /** Maximum body in bytes, when the default is too small. */
  readonly bodyBytes?: number
  /** Whether `open` may return null; for the documents. */
  readonly mayHaveEnded?: true
  /** Opens the stream. Returns null when it has ended: the response is 204, which makes an EventSource stop. */
  open(engine: Engine, input: z.output<In>, call: StreamCall): Promise<AsyncIterable<Frame> | null>
}

export function defineStream<In extends z.ZodObject>(stream: StreamOperation<In>): StreamOperation<In> {
  return stream
}
