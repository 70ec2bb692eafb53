/** Transfers are operations whose answer, or whose body, is bytes as they are: downloads and uploads. */
import type { z } from 'zod'
import type { Access } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Call, HttpMethod } from './operation.ts'

/** Bytes that can be had whole or in part. */
export interface Content {
  readonly size: number
  /** Names this very content; without quotes. */
  readonly etag: string
  readonly contentType: string
  /** Name that a browser saves it under; percent-encoded bytes. */
  readonly fileName: string
  /** Bytes from `start` up to, not including, `end`; nothing is opened before the first is asked for. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

interface Transfer<In extends z.ZodObject> extends Access {
  readonly summary: string
  readonly description?: string
  /** Method and path template; `{name*}` at its end takes the rest of the path, percent-encoded as it came. */
  readonly http: `${HttpMethod} /${string}`
  readonly cli: string | null
  readonly example?: string
  /** Fields of path and query. */
  readonly input: In
  readonly errors?: readonly ErrorCode[]
}

/** Answers GET and HEAD with bytes; ranges and `If-None-Match` are the server's business. */
export interface DownloadOperation<In extends z.ZodObject = z.ZodObject> extends Transfer<In> {
  /** Media type of the bytes, or a wildcard range where it depends on the file. */
  readonly mediaType: string
  open(engine: Engine, input: z.output<In>, call: Call): Promise<Content>
}

/** Takes a body of bytes; its fields come in the query. */
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
