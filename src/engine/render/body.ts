/** Reads bodies with a bound, decompressing what fetch leaves compressed. */
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { explainFetch } from './fetch-errors.ts'

const { bodyBytes } = limits.scrape

/** @throws BaxError `content_too_large`, or `connection_failed` when the body breaks off. */
export async function readBody(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > bodyBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  const zstd = /\bzstd\b/i.test(response.headers.get('content-encoding') ?? '')
  try {
    const bytes = await gather(response.body ?? [])
    // Newer versions of Node have decompressed it already.
    return zstd && isZstd(bytes) ? await unzstd(bytes) : bytes
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof BaxError) throw error
    throw explainFetch(error, 'the connection broke in the middle of the answer')
  }
}

async function gather(body: AsyncIterable<Uint8Array> | readonly never[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop cancels the stream.
    if (size > bodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

const isZstd = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd

/** Node 20 has no zstd of its own. */
async function unzstd(bytes: Uint8Array): Promise<Uint8Array> {
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

export const tooLarge = (): BaxError =>
  new BaxError('content_too_large', `the page is larger than ${bodyBytes / 1024 / 1024} MiB`)
