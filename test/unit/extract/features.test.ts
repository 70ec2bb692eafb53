/**
 * Values of the model on one page in which every feature occurs. A model is only right for the features that it was
 * trained on, and a few wrong ones change the content of few pages. After training, update the values with `vitest -u`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { blockFeatures, featuresOf } from '../../../src/engine/extract/main-content/features/features.ts'
import { secondPassFeatures, writeSecond } from '../../../src/engine/extract/main-content/features/second-pass.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { extraColumns, mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { chancesOf, shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { visibleText } from '../../../src/engine/extract/tree.ts'

const fixtures = new URL('../../fixtures/main-content/', import.meta.url)
const html = readFileSync(new URL('every-feature.html', fixtures), 'utf8')
const url = 'https://site.example/forum/products/shop/docs/blog/services/old-bridge-1931?page=2'
const model = await shippedModel()
const types = model.types.map(([type]) => type)
const columns = [...blockFeatures, ...types.map((type) => `chance of ${type}`), ...secondPassFeatures]

function features() {
  const survey = surveyPage(treeFromHtml(html, url).root, url, model.lexicon)
  const matrix = featuresOf(survey, model.lexicon, extraColumns(types.length))
  const first = chancesOf(model.first, matrix)
  writeSecond(matrix.values, matrix.width, survey, first)
  return { ...matrix, first, second: chancesOf(model.second, matrix), blocks: survey.segments.blocks }
}

const digits = (value: number) => Number(value.toPrecision(5))

describe('the model', () => {
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
