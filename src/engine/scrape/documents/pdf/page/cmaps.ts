/** Predefined CMaps: the characters behind the codes of Chinese, Japanese and Korean fonts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

const suffix = '.bcmap'

let packed: ReadonlyMap<string, Uint8Array> | undefined

/** Returns all CMaps by name, from the file that `scripts/cmaps.js` writes. */
function cmaps(): ReadonlyMap<string, Uint8Array> {
  const bytes = brotliDecompressSync(readFileSync(join(import.meta.dirname, 'cmaps.br')))
  const start = bytes.indexOf('\n')
  const found = new Map<string, Uint8Array>()
  let from = start + 1
  for (const [name, size] of Object.entries(JSON.parse(bytes.toString('utf8', 0, start)) as Record<string, number>))
    found.set(name, bytes.subarray(from, (from += size)))
  return found
}

/** Gives the parser its data files. The others are fonts and programs that text does not need. */
class CMapFactory {
  fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    const bytes = kind === 'cMapUrl' ? (packed ??= cmaps()).get(filename.slice(0, -suffix.length)) : undefined
    // A copy, because the parser takes ownership of it.
    return bytes ? Promise.resolve(bytes.slice()) : Promise.reject(new Error(`no data file ${filename}`))
  }
}

/** Options with which the parser reads CMaps. */
export const cmapOptions = { BinaryDataFactory: CMapFactory, useWorkerFetch: false }
