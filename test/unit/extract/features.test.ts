/**
 * Values of the model on one page in which every feature occurs. A model is only right for the features that it was
 * trained on, and a few wrong ones change the content of few pages. After training, update the values with `vitest -u`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { featuresOf } from '../../../src/engine/extract/main-content/features/features.ts'
import { writeSecond } from '../../../src/engine/extract/main-content/features/second-pass.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { columnsOf, extraColumns, mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { chancesOf, type ModelData, readModel, shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { visibleText } from '../../../src/engine/extract/tree.ts'

const fixtures = new URL('../../fixtures/main-content/', import.meta.url)
const html = readFileSync(new URL('every-feature.html', fixtures), 'utf8')
const url = 'https://site.example/forum/products/shop/docs/blog/services/old-bridge-1931?page=2'
const data = JSON.parse(
  readFileSync(new URL('../../../src/engine/extract/main-content/model.json', import.meta.url), 'utf8'),
) as ModelData
const model = await shippedModel()
const types = model.types.map(([type]) => type)
const columns = columnsOf(types)

function features() {
  const survey = surveyPage(treeFromHtml(html, url).root, url, model.lexicon)
  const matrix = featuresOf(survey, model.lexicon, extraColumns(types.length))
  const first = chancesOf(model.first, matrix)
  writeSecond(matrix.values, matrix.width, survey, first)
  return { ...matrix, first, second: chancesOf(model.second, matrix), blocks: survey.segments.blocks }
}

const digits = (value: number) => Number(value.toPrecision(5))

const floats = (base64: string) => new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)

describe('the model', () => {
  test('was trained on the columns of the code', () => {
    expect(data.columns).toEqual(columns)
  })

  test('gives its golden rows the probabilities that it was stored with', () => {
    const { values, first, second } = data.golden
    const matrix = { width: columns.length, values: floats(values) }
    expect(matrix.values).toHaveLength(20 * columns.length)
    expect([...chancesOf(model.first, matrix)]).toEqual([...floats(first)])
    expect([...chancesOf(model.second, matrix)]).toEqual([...floats(second)])
  })

  test('is rejected when its form has another version', () => {
    expect(() => readModel({ ...data, version: 2 })).toThrow('the model has version 2, not 3')
  })

  test('gets the features that it was trained on', async () => {
    const { values, width } = features()
    expect(width).toBe(columns.length)
    const rows = Array.from({ length: values.length / width }, (_, row) =>
      values.subarray(row * width, (row + 1) * width),
    )
    const lines = columns.map((name, at) => {
      const column = rows.map((row) => row[at]!)
      // The second sum depends on the order of the rows.
      const sums = [1, 2].map((power) => column.reduce((sum, value, row) => sum + value * (row + 1) ** (power - 1), 0))
      return { name, text: `${name}: ${sums.map(digits).join(' ')}`, isUsed: column.some((value) => value !== 0) }
    })
    const unused = lines.filter(({ name, isUsed }) => !isUsed && !name.startsWith('chance of')).map(({ name }) => name)
    expect(unused).toEqual([])
    const text = lines.map((line) => `${line.text}\n`).join('')
    await expect(text).toMatchFileSnapshot(new URL('features.txt', fixtures).pathname)
  })

  test('has the same probability for every block', async () => {
    const { blocks, first, second } = features()
    const lines = blocks.map(({ text }, at) => `${digits(first[at]!)} ${digits(second[at]!)} ${text}\n`)
    await expect(lines.join('')).toMatchFileSnapshot(new URL('chances.txt', fixtures).pathname)
  })

  test('selects the same content', async () => {
    const { root, type, confidence } = mainContent(treeFromHtml(html, url).root, { model, url })
    const text = `${type} ${digits(confidence)}\n${visibleText(root)}\n`
    await expect(text).toMatchFileSnapshot(new URL('content.txt', fixtures).pathname)
  })
})
