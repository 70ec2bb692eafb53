// Computes how much of every block is in the true text, by aligning the words of the page with it.
const tokensOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

const anchorLengths = [8, 5, 3, 2, 1]

/** Returns the positions of sequences that occur once. */
function uniqueRuns(tokens, from, to, length) {
  const found = new Map()
  for (let at = from; at + length <= to; at++) {
    const key = length === 1 ? tokens[at] : tokens.slice(at, at + length).join(' ')
    found.set(key, found.has(key) ? -1 : at)
  }
  return found
}

/** Returns the longest chain of pairs that increases on both sides. */
function risingChain(pairs) {
  const tails = []
  const before = new Int32Array(pairs.length).fill(-1)
  for (let index = 0; index < pairs.length; index++) {
    let low = 0
    let high = tails.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (pairs[tails[middle]][1] < pairs[index][1]) low = middle + 1
      else high = middle
    }
    if (low > 0) before[index] = tails[low - 1]
    tails[low] = index
  }
  const chain = []
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index]) chain.push(pairs[index])
  return chain.toReversed()
}

/** Patience alignment: marks the page's tokens that occur in the truth in the same order. */
function align(page, truth, matched, used) {
  const work = [[0, page.length, 0, truth.length, 0]]
  while (work.length > 0) {
    let [a0, a1, b0, b1, step] = work.pop()
    while (a0 < a1 && b0 < b1 && page[a0] === truth[b0] && step > 0) {
      matched[a0++] = 1
      used[b0++] = 1
    }
    while (a0 < a1 && b0 < b1 && page[a1 - 1] === truth[b1 - 1] && step > 0) {
      matched[--a1] = 1
      used[--b1] = 1
    }
    if (a0 >= a1 || b0 >= b1 || step >= anchorLengths.length) continue
    const length = anchorLengths[step]
    const inTruth = uniqueRuns(truth, b0, b1, length)
    const pairs = []
    for (const [key, at] of uniqueRuns(page, a0, a1, length)) {
      const other = at < 0 ? -1 : (inTruth.get(key) ?? -1)
      if (other >= 0) pairs.push([at, other])
    }
    pairs.sort((left, right) => left[0] - right[0])
    let a = a0
    let b = b0
    for (const [at, other] of risingChain(pairs)) {
      if (at < a || other < b) continue
      work.push([a, at, b, other, step + 1])
      for (let offset = 0; offset < length; offset++) {
        matched[at + offset] = 1
        used[other + offset] = 1
      }
      a = at + length
      b = other + length
    }
    work.push([a, a1, b, b1, step + 1])
  }
}

/** Returns the share of each block's words in the truth: aligned in order, then blocks that occur elsewhere in it. */
export function labelBlocks(blocks, truth) {
  const words = blocks.map(tokensOf)
  const page = words.flat()
  const wanted = tokensOf(truth)
  const matched = new Uint8Array(page.length)
  const used = new Uint8Array(wanted.length)
  align(page, wanted, matched, used)
  const left = new Map()
  for (const [at, token] of wanted.entries()) if (!used[at]) left.set(token, (left.get(token) ?? 0) + 1)
  const joined = ` ${wanted.join(' ')} `
  const labels = new Float32Array(blocks.length)
  let at = 0
  for (const [index, tokens] of words.entries()) {
    let hits = 0
    for (let offset = 0; offset < tokens.length; offset++) hits += matched[at + offset]
    if (tokens.length > 0) labels[index] = hits / tokens.length
    at += tokens.length
  }
  // The order differs where an author moved parts: match whole blocks that the truth still lacks.
  for (const [index, tokens] of words.entries()) {
    if (labels[index] > 0.5 || tokens.length < 3 || !joined.includes(` ${tokens.join(' ')} `)) continue
    let open = 0
    for (const token of tokens) if ((left.get(token) ?? 0) > 0) open++
    if (open / tokens.length < 0.8) continue
    for (const token of tokens) left.set(token, (left.get(token) ?? 0) - 1)
    labels[index] = 1
  }
  return { labels, words, wanted }
}

const plain = (text) => text.replaceAll(/\s+/g, ' ').trim()

/** For pages with only some known wanted and unwanted passages: 1, 0, or -1 for unknown. */
export function labelPassages(blocks, { with: wanted, without: unwanted }) {
  const labels = new Float32Array(blocks.length).fill(-1)
  const texts = blocks.map(plain)
  const places = (passage) => {
    if (passage.length < 2) return []
    return [...texts.keys()].filter((index) => {
      const text = texts[index]
      return text.includes(passage) || (text.length >= 12 && passage.includes(text))
    })
  }
  const doubtful = []
  for (const passage of unwanted.map(plain)) for (const index of places(passage)) labels[index] = 0
  for (const passage of wanted.map(plain)) {
    const found = places(passage)
    // A wanted passage can occur several times, such as a headline in a list of links: use the one near the others.
    if (found.length === 1 || passage.length > 120) for (const index of found) labels[index] = 1
    else if (found.length > 1) doubtful.push(found)
  }
  const sure = [...labels.keys()].filter((index) => labels[index] === 1)
  const distance = (index) => Math.min(blocks.length, ...sure.map((other) => Math.abs(other - index)))
  for (const found of doubtful) {
    const nearest = found.toSorted((left, right) => distance(left) - distance(right))[0]
    labels[nearest] = 1
  }
  return labels
}
