/** Transfers are operations whose response or body is raw bytes: downloads and uploads. */
import type { z } from 'zod'
import type { Call, Content } from './call.ts'
import type { Engine } from '../engine.ts'
import type { Endpoint, HttpMethod } from './operation.ts'

interface Transfer<In extends z.ZodObject> extends Endpoint<In> {
  /** Method and path template; a final `{name*}` matches the rest of the path, percent-encoded as received. */
  readonly http: `${HttpMethod} /${string}`
  readonly cli: string | null
  readonly example?: string
}

/** Serves bytes for GET and HEAD; the server handles ranges and `If-None-Match`. */
export interface DownloadOperation<In extends z.ZodObject = z.ZodObject> extends Transfer<In> {
  /** Media type of the bytes, or a wildcard range where it depends on the file. */
  readonly mediaType: string
  open(engine: Engine, input: z.output<In>, call: Call): Promise<Content>
}

/** Receives a body of bytes; its fields are in the query. */
export interface UploadOperation<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodType = z.ZodType,
> extends Transfer<In> {
  readonly output: Out
  receive(engine: Engine, input: z.output<In>, body: AsyncIterable<Uint8Array>, call: Call): Promise<z.output<Out>>
}

export function defineDownload<In extends z.ZodObject>(download: DownloadOperation<In>): DownloadOperation<In> {
  return download
}

export function defineUpload<In extends z.ZodObject, Out extends z.ZodType>(
  upload: UploadOperation<In, Out>,
): UploadOperation<In, Out> {
  return upload
}
