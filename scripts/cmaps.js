// Packs the predefined CMaps of PDF.js, with which fonts of Chinese, Japanese and Korean text are read, into one file:
//   npm pack pdfjs-dist@5.4.530 && tar xf pdfjs-dist-*.tgz && node scripts/cmaps.js package/cmaps
// The package is no dependency because of its size: only its CMaps are needed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

const target = fileURLToPath(new URL('../src/engine/scrape/documents/pdf/page/cmaps.br', import.meta.url))
const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node scripts/cmaps.js FOLDER')

const suffix = '.bcmap'
const names = readdirSync(folder).filter((name) => name.endsWith(suffix))
const files = names.toSorted().map((name) => ({ name: name.slice(0, -suffix.length), bytes: readFileSync(join(folder, name)) })) // prettier-ignore
const sizes = JSON.stringify(Object.fromEntries(files.map(({ name, bytes }) => [name, bytes.length])))
// A line with the size of each CMap, then all of them.
const packed = Buffer.concat([Buffer.from(`${sizes}\n`), ...files.map(({ bytes }) => bytes)])
writeFileSync(target, brotliCompressSync(packed, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: packed.length } }))
