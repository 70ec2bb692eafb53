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

/** Maximum window size in browsers, in bytes. */
const maxWindow = 8 * 1024 * 1024
/** Maximum number of bytes to move in total; every block moves the whole window. */
const maxMoved = 16 * 1024 ** 3

/**
 * Returns the number of bytes that decompression would move, Infinity if it needs more memory or time than pages should.
 * `single` is the maximum size of a frame without a window.
 */
export function zstdCost(bytes: Uint8Array, single: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let moved = 0
  try {
    for (let at = 0; at < bytes.length;) {
      const magic = view.getUint32(at, true)
      if (magic >>> 4 === 0x1_84d_2a5) {
        at += 8 + view.getUint32(at + 4, true)
        continue
      }
      if (magic !== 0xfd_2f_b5_28) return moved
      const { window, isSingle, blocks, checksum } = headerAt(view, at + 4)
      if (window > (isSingle ? single : maxWindow)) return Infinity
      at = blocks
      for (let isLast = false; !isLast;) {
        const head = view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
        // A block of one repeated byte contains only that byte.
        at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3)
        isLast = (head & 1) === 1
        moved += window
      }
      if (moved > maxMoved) return Infinity
      at += checksum
    }
  } catch (error) {
    // The data is truncated, which decompression will report.
    if (!(error instanceof RangeError)) throw error
  }
  return moved > maxMoved ? Infinity : moved
}

function headerAt(view: DataView, at: number) {
  const flags = view.getUint8(at)
  const isSingle = (flags & 32) !== 0
  const sized = at + (isSingle ? 1 : 2) + [0, 1, 2, 4][flags & 3]!
  const sizeBytes = flags >> 6 > 0 ? 1 << (flags >> 6) : isSingle ? 1 : 0
  const window = isSingle ? sizeAt(view, sized, sizeBytes) : windowOf(view.getUint8(at + 1))
  return { window, isSingle, blocks: sized + sizeBytes, checksum: flags & 4 }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

function sizeAt(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at)
  if (bytes === 2) return view.getUint16(at, true) + 256
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true))
}
