// The rows from which the choice of a page's threshold is learnt: what each threshold would give, and what it gave.
import { passageCounts, wordF1 } from './score.js'

const setWeights = { 'wcxb-dev': 1, traf: 0.5, readability: 0.5, defuddle: 0.1 }

const passageF1 = ([right, wrong, missing]) => (2 * right) / (2 * right + wrong + missing || 1)

/** Whether a block is kept at a threshold. */
export function keepTest(extractor, page, chances, threshold) {
  const kept = new Set(extractor.keptBlocks(page.survey, chances, threshold).map(({ index }) => index))
  return (index) => kept.has(index)
}

/** Adds each page's options (thresholds) and the F1 that they gave; `looksOf` gives a page's two judgements. */
export function choiceRows(extractor, pages, looksOf, types) {
  const rows = []
  for (const page of pages) {
    if (page.count === 0) continue
    const [first, second] = looksOf(page)
    const shape = extractor.pageRow(page.values, types)
    const { thresholds, matrix } = extractor.optionsOf(page.survey, first, second, shape)
    page.options = { from: rows.length, thresholds }
    for (const [at, threshold] of thresholds.entries()) {
      const keep = keepTest(extractor, page, second, threshold)
      const label = page.wanted ? wordF1(page, keep) : passageF1(passageCounts(page, keep))
      const weight = setWeights[page.item.set] ?? 1
      rows.push({ page, label, weight, values: matrix.values.subarray(at * matrix.width, (at + 1) * matrix.width) })
    }
  }
  return rows
}

/** The threshold with the greatest expected F1. */
export function chosenThreshold({ options }, worths) {
  if (!options) return 1
  const { from, thresholds } = options
  let best = 0
  for (const at of thresholds.keys()) if (worths[from + at] > worths[from + best]) best = at
  return thresholds[best]
}
