// Locks a model to the code that evaluates it: the names of its columns, and rows with the probabilities that it gives
// them. test/unit/extract/features.test.ts compares both with the code.
//   node scripts/train/lock.js    writes the lock of model.json again, for example after a column has another name
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadExtractor } from './extractor.js'

/** A page of our own in which every feature occurs. */
const page = new URL('../../test/fixtures/main-content/every-feature.html', import.meta.url)
const url = 'https://site.example/forum/products/shop/docs/blog/services/old-bridge-1931?page=2'
const rows = 20

const base64 = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** Returns the stored model with the names of its columns, and golden rows. */
export function locked(extractor, stored) {
  const model = extractor.readModel(stored)
  const types = model.types.map(([type]) => type)
  const columns = extractor.columnsOf(types)
  const survey = extractor.surveyPage(extractor.treeFromHtml(readFileSync(page, 'utf8'), url).root, url, model.lexicon)
  const matrix = extractor.featuresOf(survey, model.lexicon, extractor.extraColumns(types.length))
  extractor.writeSecond(matrix.values, matrix.width, survey, extractor.chancesOf(model.first, matrix))
  const step = Math.floor(matrix.values.length / matrix.width / rows)
  const values = new Float32Array(rows * matrix.width)
  for (let row = 0; row < rows; row++)
    values.set(matrix.values.subarray(row * step * matrix.width, (row * step + 1) * matrix.width), row * matrix.width)
  const chances = (trees) => base64(extractor.chancesOf(trees, { width: matrix.width, values }))
  const golden = { values: base64(values), first: chances(model.first), second: chances(model.second) }
  return { ...stored, columns, golden }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('../../src/engine/extract/main-content/model.json', import.meta.url)
  const stored = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(locked(await loadExtractor(), stored)) + '\n')
}
