/** Pairs the equal items of two lists in order, like a line diff. */

/** Returns the indexes of equal items, both ascending. */
export function align(before: readonly string[], after: readonly string[]): [number, number][] {
  const pairs: [number, number][] = []
  alignPart({ before, after, a: 0, b: 0, aEnd: before.length, bEnd: after.length }, pairs)
  return pairs
}

/** Parts of two lists: of `before` from `a`, of `after` from `b`. */
interface Part {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly a: number
  readonly b: number
  readonly aEnd: number
  readonly bEnd: number
}

/** Maximum table size for parts without an item that is unique in both; larger ones stay unaligned. */
const tableCells = 250_000

function alignPart(part: Part, pairs: [number, number][]): void {
  const { before, after } = part
  let { a, b, aEnd, bEnd } = part
  while (a < aEnd && b < bEnd && before[a] === after[b]) pairs.push([a++, b++])
  const ends: [number, number][] = []
  while (a < aEnd && b < bEnd && before[aEnd - 1] === after[bEnd - 1]) ends.unshift([--aEnd, --bEnd])
  if (a < aEnd && b < bEnd) {
    const rest = { before, after, a, b, aEnd, bEnd }
    const anchors = uniqueInOrder(rest)
    for (const [nextA, nextB] of anchors) {
      alignPart({ ...rest, a, b, aEnd: nextA, bEnd: nextB }, pairs)
      pairs.push([nextA, nextB])
      ;[a, b] = [nextA + 1, nextB + 1]
    }
    if (anchors.length > 0) alignPart({ ...rest, a, b }, pairs)
    else if ((aEnd - a) * (bEnd - b) <= tableCells) pairs.push(...longestCommon(rest))
  }
  pairs.push(...ends)
}

/** Returns the longest increasing run of the items that are unique on both sides. */
function uniqueInOrder({ before, after, ...part }: Part): [number, number][] {
  const inAfter = uniqueIn(after, part.b, part.bEnd)
  const candidates = [...uniqueIn(before, part.a, part.aEnd)].flatMap(([item, a]): [number, number][] => {
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

function uniqueIn(items: readonly string[], from: number, to: number): Map<string, number> {
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

function longestCommon({ before, after, ...part }: Part): [number, number][] {
  const width = part.bEnd - part.b + 1
  const lengths = new Uint32Array((part.aEnd - part.a + 1) * width)
  const cell = (a: number, b: number) => (a - part.a) * width + (b - part.b)
  for (let a = part.aEnd - 1; a >= part.a; a--) {
    for (let b = part.bEnd - 1; b >= part.b; b--) {
      lengths[cell(a, b)] =
        before[a] === after[b]
          ? lengths[cell(a + 1, b + 1)]! + 1
          : Math.max(lengths[cell(a + 1, b)]!, lengths[cell(a, b + 1)]!)
    }
  }
  const pairs: [number, number][] = []
  for (let { a, b } = part; a < part.aEnd && b < part.bEnd;) {
    if (before[a] === after[b]) pairs.push([a++, b++])
    else if (lengths[cell(a + 1, b)]! >= lengths[cell(a, b + 1)]!) a++
    else b++
  }
  return pairs
}
