/** Pairs the equal items of two lists in order, like a line diff. */

/** Returns the indexes of equal items, both ascending. */
export function align(before: readonly string[], after: readonly string[]): [number, number][] {
  const pairs: [number, number][] = []
  alignRange({ before, after, pairs }, { from: 0, to: before.length }, { from: 0, to: after.length })
  return pairs
}

interface Lists {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly pairs: [number, number][]
}

interface Range {
  readonly from: number
  readonly to: number
}

/** Maximum table size for ranges without an item that is unique in both; larger ones stay unaligned. */
const tableCells = 250_000

function alignRange(lists: Lists, left: Range, right: Range): void {
  const { before, after, pairs } = lists
  let [a, b, aEnd, bEnd] = [left.from, right.from, left.to, right.to]
  while (a < aEnd && b < bEnd && before[a] === after[b]) pairs.push([a++, b++])
  const ends: [number, number][] = []
  while (a < aEnd && b < bEnd && before[aEnd - 1] === after[bEnd - 1]) ends.unshift([--aEnd, --bEnd])
  if (a < aEnd && b < bEnd) {
    const rest = [
      { from: a, to: aEnd },
      { from: b, to: bEnd },
    ] as const
    const anchors = uniqueInOrder(lists, ...rest)
    if (anchors.length > 0) alignBetween(lists, rest, anchors)
    else if ((aEnd - a) * (bEnd - b) <= tableCells) pairs.push(...longestCommon(lists, ...rest))
  }
  pairs.push(...ends)
}

function alignBetween(lists: Lists, [left, right]: readonly [Range, Range], anchors: [number, number][]): void {
  let [a, b] = [left.from, right.from]
  for (const [nextA, nextB] of anchors) {
    alignRange(lists, { from: a, to: nextA }, { from: b, to: nextB })
    lists.pairs.push([nextA, nextB])
    ;[a, b] = [nextA + 1, nextB + 1]
  }
  alignRange(lists, { from: a, to: left.to }, { from: b, to: right.to })
}

/** Returns the longest increasing run of the items that are unique on both sides. */
function uniqueInOrder({ before, after }: Lists, left: Range, right: Range): [number, number][] {
  const inAfter = uniqueIn(after, right)
  const candidates = [...uniqueIn(before, left)].flatMap(([item, a]): [number, number][] => {
    const b = inAfter.get(item)
    return b === undefined ? [] : [[a, b]]
  })
  // Patience sorting: keeps, for each length, the run with the smallest end.
  const ends: number[] = []
  const previous: number[] = []
  for (const [at, [, b]] of candidates.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (candidates[ends[middle]!]![1] < b) low = middle + 1
      else high = middle
    }
    previous[at] = low > 0 ? ends[low - 1]! : -1
    ends[low] = at
  }
  const run: [number, number][] = []
  for (let at = ends.at(-1) ?? -1; at !== -1; at = previous[at]!) run.unshift(candidates[at]!)
  return run
}

function uniqueIn(items: readonly string[], { from, to }: Range): Map<string, number> {
  const found = new Map<string, number>()
  const twice = new Set<string>()
  for (let at = from; at < to; at++) {
    const item = items[at]!
    if (found.has(item)) twice.add(item)
    found.set(item, at)
  }
  for (const item of twice) found.delete(item)
  return found
}

function longestCommon({ before, after }: Lists, left: Range, right: Range): [number, number][] {
  const width = right.to - right.from + 1
  const lengths = new Uint32Array((left.to - left.from + 1) * width)
  const cell = (a: number, b: number) => (a - left.from) * width + (b - right.from)
  for (let a = left.to - 1; a >= left.from; a--) {
    for (let b = right.to - 1; b >= right.from; b--) {
      lengths[cell(a, b)] =
        before[a] === after[b]
          ? lengths[cell(a + 1, b + 1)]! + 1
          : Math.max(lengths[cell(a + 1, b)]!, lengths[cell(a, b + 1)]!)
    }
  }
  const pairs: [number, number][] = []
  for (let [a, b] = [left.from, right.from]; a < left.to && b < right.to;) {
    if (before[a] === after[b]) pairs.push([a++, b++])
    else if (lengths[cell(a + 1, b)]! >= lengths[cell(a, b + 1)]!) a++
    else b++
  }
  return pairs
}
