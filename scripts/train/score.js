// Measures of the scorer, on blocks: word F1 of a page, F1 over wanted and unwanted passages.

/** Returns the word F1 of the kept blocks of a page whose true text is known. */
function wordF1({ words, wanted }, keep) {
  const left = new Map()
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let kept = 0
  let right = 0
  for (const [index, tokens] of words.entries()) {
    if (!keep(index)) continue
    for (const token of tokens) {
      kept++
      const open = left.get(token) ?? 0
      if (open === 0) continue
      right++
      left.set(token, open - 1)
    }
  }
  if (wanted.length === 0) return kept > 0 ? 0 : 1
  return (2 * right) / (kept + wanted.length)
}

const plain = (text) => text.replaceAll(/\s+/g, ' ').trim()

/** Counts passages that are correctly included, wrongly included and wrongly missing. */
function passageCounts({ item, survey }, keep) {
  const text = plain(
    survey.segments.blocks
      .filter((_, index) => keep(index))
      .map((block) => block.text)
      .join(' '),
  )
  const found = item.gt.with.filter((passage) => text.includes(plain(passage))).length
  const wrong = item.gt.without.filter((passage) => text.includes(plain(passage))).length
  return [found, wrong, item.gt.with.length - found]
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Formats a line of figures per set and per type of page; `keepOf` returns a page's test for kept blocks. */
export function report(pages, keepOf) {
  const groups = new Map()
  const passages = [0, 0, 0]
  const add = (name, value) => groups.set(name, [...(groups.get(name) ?? []), value])
  for (const page of pages) {
    const keep = keepOf(page)
    if (page.item.set === 'traf') {
      for (const [at, count] of passageCounts(page, keep).entries()) passages[at] += count
      continue
    }
    const value = wordF1(page, keep)
    add(page.item.set, value)
    if (page.item.set === 'wcxb-dev') add(page.stripped ? 'without scripts' : 'scripts left in', value)
    if (page.item.set === 'wcxb-dev') add(`  ${page.item.type}`, value)
  }
  const [right, wrong, missing] = passages
  const lines = [...groups].toSorted().map(([name, values]) => `${name} ${mean(values).toFixed(4)} (${values.length})`)
  return [`traf ${((2 * right) / (2 * right + wrong + missing)).toFixed(4)}`, ...lines].join('\n')
}

/** Returns whether a block is kept at a threshold. */
export function keepTest(extractor, page, chances, threshold) {
  const chosen = extractor.keptBlocks(page.survey, chances, threshold)
  const attached = extractor.withAttachedParts(page.survey, chances, chosen)
  const kept = new Set(extractor.withCoherentParts(page.survey, chances, attached).map(({ index }) => index))
  return (index) => kept.has(index)
}
