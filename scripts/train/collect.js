// Converts pages to training rows: features, labels, weights, folds.
import { randomFrom } from './boost.js'
import { countPage, learnLexicon } from './lexicon.js'
import { labelBlocks, labelPassages } from './labels.js'
import { foldOf, readHtml, readItems, siteOf } from './pages.js'

const noCounts = { names: new Map(), texts: new Map() }

/** Weight of a page of a set relative to the main set. */
const setWeights = { traf: 0.8, readability: 0.7, defuddle: 0.25 }

/** Removes scripts and styles, like some fetchers do. */
const stripped = (html) =>
  html.replaceAll(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, '').replaceAll(/<!--[\s\S]*?-->/g, '')

const sourceOf = (folder, page) => {
  const html = readHtml(folder, page.item)
  return page.stripped ? stripped(html) : html
}

const surveyOf = (extractor, folder, page, lexicon) =>
  extractor.surveyPage(extractor.treeFromHtml(sourceOf(folder, page), page.item.url).root, page.item.url, lexicon)

/** Returns pages with the labels of their blocks; `textOf` returns the true text of an item. */
export function labelPages(extractor, { folder, folds, textOf, every = 1 }) {
  const pages = []
  const noLexicon = learnLexicon(extractor, [])
  for (const [index, item] of readItems(folder).entries()) {
    if (index % every > 0) continue
    const page = { item, fold: foldOf(item, folds), site: siteOf(item), stripped: false }
    // Every third page of the main set is also used without its scripts.
    page.stripped = item.set === 'wcxb-dev' && parseInt(item.key.slice(0, 6), 16) % 3 === 0
    const survey = surveyOf(extractor, folder, page, noLexicon)
    const texts = survey.segments.blocks.map(({ text }) => text)
    if (item.set === 'traf') page.labels = labelPassages(texts, item.gt)
    else {
      page.truth = textOf(item)
      Object.assign(page, labelBlocks(texts, page.truth))
      page.isEmpty = page.wanted.length === 0
    }
    page.counts = page.isEmpty ? noCounts : countPage(extractor, survey, page.labels)
    pages.push(page)
  }
  return pages
}

/** Adds surveys and the rows of all blocks to the pages; each page sees the lexicon of the other folds. */
export function collectRows(extractor, pages, { folder, folds, extra }) {
  const lexicons = Array.from({ length: folds }, (_, fold) =>
    learnLexicon(
      extractor,
      pages.filter((page) => page.fold !== fold),
    ),
  )
  let rows = 0
  for (const page of pages) {
    const lexicon = lexicons[page.fold]
    page.survey = surveyOf(extractor, folder, page, lexicon)
    page.matrix = extractor.featuresOf(page.survey, lexicon, extra)
    page.from = rows
    page.count = page.survey.segments.blocks.length
    rows += page.count
  }
  const width = extractor.blockFeatures.length + extra
  const values = new Float32Array(rows * width)
  for (const page of pages) {
    values.set(page.matrix.values, page.from * width)
    page.values = values.subarray(page.from * width, (page.from + page.count) * width)
    page.matrix = undefined
  }
  return { values, width, rows }
}

const shared = (length) => new Float32Array(new SharedArrayBuffer(length * 4))

/** Returns labels and weights of all rows; a block is weighted by its words, a page by the cost of a wrong word. */
export function targetsOf(pages, rows) {
  const random = randomFrom(11)
  const labels = shared(rows)
  const weights = shared(rows)
  for (const page of pages) {
    labels.set(
      page.labels.map((label) => Math.max(label, 0)),
      page.from,
    )
    if (page.isEmpty) continue
    const { blocks } = page.survey.segments
    const own = blocks.map(({ measure }, index) => {
      if (page.labels[index] < 0) return 0
      return page.wanted ? (measure.words + 1) ** 0.8 : 1
    })
    const sum = own.reduce((total, weight) => total + weight, 0)
    const { words } = page.survey
    const cost = page.wanted ? Math.min(4, (1.25 * words) / (page.wanted.length + 0.25 * words)) : 1
    const weight = (setWeights[page.item.set] ?? 1) * cost
    for (const [index, value] of own.entries()) if (sum > 0) weights[page.from + index] = (value / sum) * weight
  }
  const used = weights.filter((weight) => weight > 0)
  const mean = used.reduce((total, weight) => total + weight, 0) / used.length
  for (let row = 0; row < rows; row++) weights[row] = thinned(weights[row] / mean, random)
  return { labels, weights }
}

const leastWeight = 0.4

/** Samples the blocks of very long pages, which weigh little, to halve the training time. */
function thinned(weight, random) {
  if (weight >= leastWeight || weight === 0) return weight
  return random() < weight / leastWeight ? leastWeight : 0
}
