/** Decompresses zstd, which Node 20 does not support. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'

const { bodyBytes } = limits.scrape

/** Decompresses a body. @throws BaxError `content_too_large` */
export async function unzstd(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length === 0) return bytes
  const { Decompress } = await import('fzstd')
  const chunks: Uint8Array[] = []
  let size = 0
  const stream = new Decompress((chunk) => {
    size += chunk.length
    if (size > bodyBytes) throw tooLarge()
    chunks.push(chunk)
  })
  // Push small chunks, so that decompression bombs are detected early.
  const step = 64 * 1024
  for (let at = 0; at < bytes.length; at += step) stream.push(bytes.subarray(at, at + step), at + step >= bytes.length)
  return Buffer.concat(chunks)
}

export const tooLarge = (): BaxError =>
  new BaxError('content_too_large', `the page is larger than ${bodyBytes / 1024 / 1024} MiB`)
