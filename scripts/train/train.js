// Trains the model of the main content and measures it by cross-validation over sites.
//   node --max-old-space-size=12000 scripts/train/train.js --data DIR [--kit DIR] [--folds 5] [--trees 200] [--every N] [--out FILE]
// DIR holds items.jsonl and html/<key>.html.gz, KIT (default DIR/kit) the scorer with its packages installed.
// The pages: the Web Content Extraction Benchmark (Murrough Foley, CC BY 4.0), the evaluation set of trafilatura
// (Apache-2.0), test pages of mozilla/readability (Apache-2.0) and of kepano/defuddle (MIT).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { binAgain, binColumns, scoreRows } from './boost.js'
import { collectRows, labelPages, targetsOf } from './collect.js'
import { loadExtractor } from './extractor.js'
import { learnLexicon } from './lexicon.js'
import { locked } from './lock.js'
import { keepTest, report } from './score.js'
import { storedScores, storedTrees } from './store.js'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    kit: { type: 'string' },
    folds: { type: 'string', default: '5' },
    trees: { type: 'string', default: '200' },
    every: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    out: {
      type: 'string',
      default: fileURLToPath(new URL('../../src/engine/extract/main-content/model.json', import.meta.url)),
    },
  },
})
const folds = Number(options.folds)
const pageTypes = ['article', 'documentation', 'service', 'forum', 'collection', 'listing', 'product']
const blockOptions = { trees: Number(options.trees), leaves: 31, rate: 0.08, features: 0.2 }
const typeOptions = {
  trees: 40,
  leaves: 8,
  rate: 0.1,
  features: 0.5,
  topShare: 0.5,
  restShare: 0.3,
  ridge: 3,
  leastHessian: 1,
}
const allFolds = -1

const started = Date.now()
const say = (text) => console.log(`${((Date.now() - started) / 1000).toFixed(0)} s  ${text}`)

const kit = pathToFileURL(join(options.kit ?? join(options.data, 'kit'), 'lib/text.mjs')).href
const { htmlToText, mdToText } = await import(kit)
const textOf = ({ gt }) => gt.text ?? (gt.expectedHtml ? htmlToText(gt.expectedHtml) : mdToText(gt.expectedMd))

function trainBeside(job) {
  return new Promise((done, fail) => {
    const worker = new Worker(new URL('worker.js', import.meta.url), { workerData: job })
    worker.on('message', done)
    worker.on('error', fail)
  })
}

/** Trains models that each omit a fold, then one on all rows; returns the rows' probabilities from the former. */
async function crossTrain(binned, rowsOf, labels, weights, settings) {
  const chances = new Float32Array(binned.rows)
  const jobs = [...Array.from({ length: folds }, (_, fold) => fold), allFolds]
  let whole
  const work = async () => {
    for (let fold = jobs.shift(); fold !== undefined; fold = jobs.shift()) {
      const train = rowsOf((page) => page.fold !== fold).filter((row) => weights[row] > 0)
      const model = await trainBeside({ binned, train, labels, weights, options: settings })
      if (fold === allFolds) whole = model
      else {
        const test = rowsOf((page) => page.fold === fold)
        for (const [at, score] of scoreRows(binned, model, test).entries())
          chances[test[at]] = 1 / (1 + Math.exp(-score))
      }
    }
  }
  await Promise.all(Array.from({ length: Number(options.workers) }, work))
  return { chances, model: whole }
}

const rowsOfPages = (pages) => (wanted) =>
  Int32Array.from(
    pages.flatMap((page) => (wanted(page) ? Array.from({ length: page.count }, (_, at) => page.from + at) : [])),
  )

/** Trains one model per kind of page, with one row per page; writes the probabilities into the block rows. */
async function trainTypes(extractor, pages, width) {
  const known = pages.filter((page) => page.count > 0)
  const pageWidth = extractor.pageFeatures.length
  const values = new Float32Array(known.length * pageWidth)
  for (const [at, page] of known.entries()) values.set(page.values.subarray(0, pageWidth), at * pageWidth)
  const binned = binColumns(values, pageWidth, known.length)
  const models = {}
  const guesses = known.map(() => [])
  for (const [index, type] of pageTypes.entries()) {
    const shared = () => new Float32Array(new SharedArrayBuffer(known.length * 4))
    const labels = shared()
    const weights = shared()
    for (const [at, { item }] of known.entries()) {
      labels[at] = (item.set === 'wcxb-dev' ? item.type : 'article') === type ? 1 : 0
      weights[at] = item.set === 'wcxb-dev' ? 1 : item.set === 'defuddle' ? 0 : 0.3
    }
    const rowsOf = (wanted) => Int32Array.from(known.keys()).filter((at) => wanted(known[at]))
    const { chances, model } = await crossTrain(binned, rowsOf, labels, weights, typeOptions)
    models[type] = model
    for (const [at, page] of known.entries()) {
      guesses[at].push(chances[at])
      for (let row = 0; row < page.count; row++)
        page.values[row * width + extractor.blockFeatures.length + index] = chances[at]
    }
  }
  const tested = [...known.keys()].filter((at) => known[at].item.set === 'wcxb-dev')
  const right = tested.filter((at) => pageTypes[guesses[at].indexOf(Math.max(...guesses[at]))] === known[at].item.type)
  say(`types: ${((100 * right.length) / tested.length).toFixed(1)} % right`)
  return { models, edges: binned.edges }
}

const extractor = await loadExtractor()
const extra = extractor.extraColumns(pageTypes.length)
const pages = labelPages(extractor, { folder: options.data, folds, textOf, every: Number(options.every) })
say(`${pages.length} pages labelled`)
const { values, width, rows } = collectRows(extractor, pages, { folder: options.data, folds, extra })
const { labels, weights } = targetsOf(pages, rows)
say(`${rows} rows of ${width}`)
const rowsOf = rowsOfPages(pages)
const chancesOf = (all) => (page) => all.subarray(page.from, page.from + page.count)
const keepBy = (all) => (page) => {
  const chances = extractor.alignItems(page.survey, chancesOf(all)(page))
  return keepTest(extractor, page, chances, extractor.expectedBest(page.survey, chances).threshold)
}

const types = await trainTypes(extractor, pages, width)
const binned = binColumns(values, width, rows)
// The first pass only sees the blocks: a column without edges is never split on.
const blocksEnd = extractor.blockFeatures.length
const blind = { ...binned, edges: binned.edges.map((edges, at) => (at < blocksEnd ? edges : [])) }
const first = await crossTrain(blind, rowsOf, labels, weights, blockOptions)
say(`first look\n${report(pages, keepBy(first.chances))}`)
for (const page of pages) extractor.writeSecond(page.values, width, page.survey, chancesOf(first.chances)(page))
binAgain(binned, values, blocksEnd)
const second = await crossTrain(binned, rowsOf, labels, weights, blockOptions)
say(`second look\n${report(pages, keepBy(second.chances))}`)
const judged = extractor.together(first.chances, second.chances)
say(`both\n${report(pages, keepBy(judged))}`)
const lexicon = learnLexicon(extractor, pages)
const model = {
  version: extractor.modelVersion,
  types: Object.fromEntries(
    Object.entries(types.models).map(([type, trees]) => [type, storedTrees(trees, types.edges)]),
  ),
  first: storedTrees(first.model, binned.edges),
  second: storedTrees(second.model, binned.edges),
  names: storedScores(lexicon.names),
  texts: storedScores(lexicon.texts),
}
writeFileSync(options.out, JSON.stringify(locked(extractor, model)) + '\n')
say(`written to ${options.out}`)
