/** Reads and decompresses response bodies up to a size limit. */
import { runInWorker } from '../../../core/process/run-in-worker.ts'
import type { WorkOptions } from '../../../core/process/turns.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { explainFetch } from '../../egress/fetch-errors.ts'
import type { HttpResponse } from '../../egress/http-client.ts'
import { decompress, type Decompressed, isZlibCoding } from './decompress.ts'
import { tooLarge, unzstd, zstdCost } from './unzstd.ts'

const { bodyBytes } = limits.scrape
/** Maximum number of content encodings, as each needs memory. Servers use at most two. */
const maxCodings = 5

/** Origin of the request for a body, the signal that cancels reading it, and its maximum size if it is another one. */
export type BodyWork = WorkOptions & { readonly signal: AbortSignal; readonly mostBytes?: number }

/**
 * Reads and decodes a body.
 * @throws BaxError `content_too_large`, or `connection_failed` if the connection is lost or the content is damaged
 */
export async function readBody({ headers, body }: HttpResponse, work: BodyWork): Promise<Decompressed> {
  const { mostBytes = bodyBytes } = work
  const encoding = (headers.get('content-encoding') ?? '').toLowerCase()
  let isReceived = false
  try {
    if (Number(headers.get('content-length') ?? 0) > mostBytes) throw tooLarge()
    const codings = codingsIn(encoding)
    let read: Decompressed = { bytes: await readAll(body, mostBytes) }
    isReceived = true
    // Decode the last encoding first.
    for (const coding of codings.toReversed()) {
      const { bytes, isCut } = read
      read = coding === 'zstd' ? { bytes: await decodeZstd(bytes, work) } : await decompress(bytes, coding, mostBytes)
      if (isCut) read = { ...read, isCut }
    }
    if (read.bytes.length > mostBytes) throw tooLarge()
    return read
  } catch (error) {
    body.destroy()
    work.signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw explainFetch(
      error,
      isReceived ? `the response cannot be decoded as ${encoding}` : 'the connection was lost during the response',
    )
  }
}

/** Returns the encodings in a header. @throws BaxError `unsupported_content_type` */
export function codingsIn(encoding: string): string[] {
  const codings = encoding
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > maxCodings)
    throw new BaxError('unsupported_content_type', `the content has ${codings.length} encodings`)
  const unknown = codings.find((coding) => coding !== 'zstd' && !isZlibCoding(coding))
  if (unknown !== undefined) throw new BaxError('unsupported_content_type', `unsupported content encoding ${unknown}`)
  return codings
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
