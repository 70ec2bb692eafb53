/** Reads bodies with a bound, decompressing them on the way. */
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { aside } from '../../../core/process/run-in-worker.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { explainFetch } from './fetch-errors.ts'
import type { HttpAnswer } from './http-client.ts'
import { tooLarge, unzstd } from './unzstd.ts'
import { zstdCost } from './zstd-cost.ts'

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
    return codings.length === 0 ? bytes : await unzstdInTime(bytes, signal)
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

/** What a thread is not worth its start for. */
const easyBytes = 64 * 1024 * 1024

const unzstdAside = aside('unzstd-worker.mjs', unzstd, limits.unzstd)

async function unzstdInTime(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const cost = zstdCost(bytes, bodyBytes)
  if (cost === Infinity) throw tooLarge()
  return cost < easyBytes ? unzstd(bytes) : unzstdAside(new Uint8Array(bytes), signal)
}
