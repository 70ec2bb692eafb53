// Learns how words of class names and texts indicate content: log odds, site by site.

/** Minimum number of sites that use a word. */
const leastSites = { names: 3, texts: 6 }
const leastScore = { names: 0.15, texts: 0.25 }
const prior = 2.5

/** Returns each word with the next one. */
const pairsOf = (words) => words.slice(1).map((word, index) => `${words[index]}_${word}`)

/** Adds the counts of one page: per word the share of its blocks' words that are content. */
export function countPage(extractor, survey, labels) {
  const names = new Map()
  const texts = new Map()
  const add = (counts, word, content, words) => {
    const count = counts.get(word)
    if (count) {
      count[0] += content
      count[1] += words
    } else counts.set(word, [content, words])
  }
  const wordsOfBox = new Map()
  const namesAbove = (box) => {
    let found = wordsOfBox.get(box)
    if (!found) {
      const own = extractor.nameWordsOf(box.element)
      const above = box.parent ? namesAbove(box.parent) : []
      found = own.length === 0 ? above : [...new Set([...above, ...own])]
      wordsOfBox.set(box, found)
    }
    return found
  }
  for (const [index, block] of survey.segments.blocks.entries()) {
    if (labels[index] < 0) continue
    const words = block.measure.words + 1
    for (const word of namesAbove(block.box)) add(names, word, labels[index] * words, words)
    const leadName = block.lead?.attributes.class
    if (leadName) for (const word of extractor.wordsOfName(leadName)) add(names, word, labels[index] * words, words)
    const opening = survey.openings[index]
    for (const word of new Set([...opening, ...pairsOf(opening)]))
      if (word.length > 1) add(texts, word, labels[index], 1)
  }
  return { names, texts }
}

/** Returns the scores of words that enough sites use. */
function scoresOf(pages, kind) {
  const sites = new Map()
  for (const { site, counts } of pages)
    for (const [word, [content, words]] of counts[kind]) {
      let bySite = sites.get(word)
      if (!bySite) sites.set(word, (bySite = new Map()))
      const sum = bySite.get(site) ?? [0, 0]
      sum[0] += content / words
      sum[1] += 1
      bySite.set(site, sum)
    }
  let all = 0
  let count = 0
  for (const bySite of sites.values())
    for (const [share, pages] of bySite.values()) {
      all += share / pages
      count++
    }
  const usual = all / count
  const scores = new Map()
  for (const [word, bySite] of sites) {
    if (bySite.size < leastSites[kind]) continue
    let content = 0
    for (const [share, pages] of bySite.values()) content += share / pages
    const odds = (content + prior * usual) / (bySite.size - content + prior * (1 - usual))
    const score = Math.round(Math.log(odds / (usual / (1 - usual))) * 20) / 20
    if (Math.abs(score) >= leastScore[kind]) scores.set(word, score)
  }
  return scores
}

/** Returns the lexicon of the counts of pages. */
export const learnLexicon = (extractor, pages) => ({
  names: extractor.scoresOfWords(scoresOf(pages, 'names')),
  texts: extractor.scoresOfWords(scoresOf(pages, 'texts')),
})
