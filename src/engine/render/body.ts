/** Reads bodies with a bound, decompressing them on the way. */
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { explainFetch } from './fetch-errors.ts'
import type { HttpAnswer } from './http-client.ts'
import { isZstdBomb } from './zstd-cost.ts'

const { bodyBytes } = limits.scrape
/** Every coding takes memory of its own, whatever comes of it; nobody needs more than two. */
const mostCodings = 5

/** @throws BaxError `content_too_large`, or `connection_failed` when the body breaks off. */
export async function readBody({ headers, body }: HttpAnswer, signal: AbortSignal): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > bodyBytes) {
    body.destroy()
    throw tooLarge()
  }
  const codings = (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > mostCodings) {
    body.destroy()
    throw new BaxError('unsupported_content_type', `the content is packed ${codings.length} times over`)
  }
  try {
    // The coding that was put on last comes off first.
    let stream = body
    while (codings.length > 0 && codings.at(-1) !== 'zstd') stream = await unpacked(stream, codings.pop()!)
    const bytes = await gather(stream)
    return codings.length === 0 ? bytes : await unzstd(bytes)
  } catch (error) {
    body.destroy()
    signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    throw explainFetch(error, 'the connection broke in the middle of the answer')
  }
}

/** Some servers promise a coding and send an empty body; that is no fault. */
async function unpacked(stream: Readable, coding: string): Promise<Readable> {
  const zlib = await import('node:zlib')
  // A stream that ends too early gives what it had, as in browsers.
  const lenient = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
    gzip: () => zlib.createUnzip(lenient),
    'x-gzip': () => zlib.createUnzip(lenient),
    deflate: () => zlib.createInflate(lenient),
    br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  }
  const decoder = decoders[coding]?.()
  if (!decoder) throw new BaxError('unsupported_content_type', `the content is packed as ${coding}`)
  // Failures of either stream come out where the last one is read.
  pipeline(stream, decoder, () => {})
  return decoder
}

async function gather(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop ends the stream.
    if (size > bodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** Node 20 has no zstd of its own. */
async function unzstd(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes
  if (isZstdBomb(bytes, bodyBytes)) throw tooLarge()
  const { Decompress } = await import('fzstd')
  const chunks: Uint8Array[] = []
  let size = 0
  const stream = new Decompress((chunk) => {
    size += chunk.length
    if (size > bodyBytes) throw tooLarge()
    chunks.push(chunk)
  })
  // In small steps, so that a bomb is noticed before it has grown.
  const step = 64 * 1024
  for (let at = 0; at < bytes.length; at += step) stream.push(bytes.subarray(at, at + step), at + step >= bytes.length)
  return Buffer.concat(chunks)
}

const tooLarge = (): BaxError =>
  new BaxError('content_too_large', `the page is larger than ${bodyBytes / 1024 / 1024} MiB`)
