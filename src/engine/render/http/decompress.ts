/** Decompresses content encodings; like browsers, also content that ends early. */
import { promisify } from 'node:util'
import type { InputType, ZlibOptions } from 'node:zlib'

export interface Decompressed {
  readonly bytes: Uint8Array
  /** Set if the content ends early. */
  readonly isCut?: true
}

/** The warning about content that ends early. */
export const cutWarning = 'the response is incomplete: its compressed content ends early'

type Decoder = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>

/** Encodings that `decompress` decodes. */
export const isZlibCoding = (coding: string): boolean => /^(?:gzip|x-gzip|deflate|br)$/.test(coding)

/** Decompresses at most `mostBytes`. @throws the errors of zlib, also if nothing is left of content that ends early */
export async function decompress(bytes: Uint8Array, coding: string, mostBytes: number): Promise<Decompressed> {
  // Some servers send empty content with an encoding.
  if (bytes.length === 0) return { bytes }
  const { brotliDecompress, constants, inflateRaw, unzip } = await import('node:zlib')
  const limit = { maxOutputLength: mostBytes }
  const isRaw = coding === 'deflate' && isRawDeflate(bytes[0]!)
  const decode = promisify(coding === 'br' ? brotliDecompress : isRaw ? inflateRaw : unzip) as Decoder
  try {
    return { bytes: await decode(bytes, limit) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'Z_BUF_ERROR') throw error
    const finishFlush = coding === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH
    const start = await decode(bytes, { ...limit, finishFlush })
    if (start.length === 0) throw error
    // Some servers omit the checksum, without which the content is complete.
    const raw = coding === 'br' || isRaw ? undefined : bytes.subarray(headerLength(bytes))
    const whole = raw && (await (promisify(inflateRaw) as Decoder)(raw, limit).catch(() => undefined))
    return { bytes: start, ...(whole?.length !== start.length && { isCut: true }) }
  }
}

/** Whether content starts without the header of zlib or gzip, which some servers omit and browsers accept. */
export const isRawDeflate = (first: number): boolean => (first & 0x0f) !== 8 && first !== 0x1f

/** Returns the length of the header of zlib or gzip. */
function headerLength(bytes: Uint8Array): number {
  if (bytes[0] !== 0x1f) return 2
  const flags = bytes[3]!
  let at = 10
  if (flags & 4) at += 2 + bytes[at]! + 256 * bytes[at + 1]!
  for (const text of [8, 16]) if (flags & text) at = bytes.indexOf(0, at) + 1
  return at + (flags & 2)
}
