/** Reads and decompresses response bodies up to a size limit. */
import { pipeline, type Readable } from 'node:stream'
import { runInWorker } from '../../../core/process/run-in-worker.ts'
import type { WorkOptions } from '../../../core/process/turns.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { explainFetch } from '../../egress/fetch-errors.ts'
import type { HttpResponse } from '../../egress/http-client.ts'
import { tooLarge, unzstd, zstdCost } from './unzstd.ts'

const { bodyBytes } = limits.scrape
/** Maximum number of content encodings, as each needs memory. Servers use at most two. */
const maxCodings = 5

/** Origin of the request for a body, the signal that cancels reading it, and its maximum size if it is another one. */
export type BodyWork = WorkOptions & { readonly signal: AbortSignal; readonly mostBytes?: number }

/** Reads a body. @throws BaxError `content_too_large`, or `connection_failed` if the body is cut off. */
export async function readBody({ headers, body }: HttpResponse, work: BodyWork): Promise<Uint8Array> {
  const { mostBytes = bodyBytes } = work
  if (Number(headers.get('content-length') ?? 0) > mostBytes) {
    body.destroy()
    throw tooLarge()
  }
  const encoding = (headers.get('content-encoding') ?? '').toLowerCase()
  const codings = encoding
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > maxCodings) {
    body.destroy()
    throw new BaxError('unsupported_content_type', `the content has ${codings.length} encodings`)
  }
  let isReceived = false
  try {
    // Decode the last encoding first.
    let stream = body
    while (codings.length > 0 && codings.at(-1) !== 'zstd') stream = await decoded(stream, codings.pop()!)
    const bytes = await readAll(stream, mostBytes)
    isReceived = true
    const whole = codings.length === 0 ? bytes : await decodeZstd(bytes, work)
    if (whole.length > mostBytes) throw tooLarge()
    return whole
  } catch (error) {
    body.destroy()
    work.signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    const isDamaged = isReceived || /^(Z_|ERR_+ERROR_FORMAT)/.test((error as NodeJS.ErrnoException).code ?? '')
    throw explainFetch(
      error,
      isDamaged ? `the response cannot be decoded as ${encoding}` : 'the connection was lost during the response',
    )
  }
}

/** Decodes one encoding. Accepts empty bodies, which some servers send with an encoding. */
async function decoded(stream: Readable, coding: string): Promise<Readable> {
  const zlib = await import('node:zlib')
  // Like browsers, accept truncated streams.
  const lenient = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  const isRaw = coding === 'deflate' && (await isRawDeflate(stream))
  const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
    gzip: () => zlib.createUnzip(lenient),
    'x-gzip': () => zlib.createUnzip(lenient),
    deflate: () => (isRaw ? zlib.createInflateRaw(lenient) : zlib.createUnzip(lenient)),
    br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  }
  const decoder = decoders[coding]?.()
  if (!decoder) throw new BaxError('unsupported_content_type', `unsupported content encoding ${coding}`)
  // Errors of both streams surface when the decoder is read.
  pipeline(stream, decoder, () => {})
  return decoder
}

/** Whether a `deflate` stream starts without the header of zlib or gzip, which some servers omit and browsers accept. */
export async function isRawDeflate(stream: Readable): Promise<boolean> {
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    stream.unshift(chunk)
    return (chunk[0]! & 0x0f) !== 8 && chunk[0] !== 0x1f
  }
  return false
}

async function readAll(body: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop ends the stream.
    if (size > mostBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

/** Cost below which starting a worker thread does not pay off. */
const threadCost = 64 * 1024 * 1024

const unzstdInWorker = runInWorker('unzstd-worker.mjs', unzstd, limits.unzstd)

async function decodeZstd(bytes: Uint8Array, work: BodyWork): Promise<Uint8Array> {
  const cost = zstdCost(bytes, bodyBytes)
  if (cost === Infinity) throw tooLarge()
  return cost < threadCost ? unzstd(bytes) : unzstdInWorker(new Uint8Array(bytes), work)
}
