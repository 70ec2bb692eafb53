/** Puts text that was read from left to right into the order in which it is written. */
const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const leftToRight = /[\p{L}\p{N}]/u
const brackets = new Map([
  ['(', ')'],
  [')', '('],
  ['[', ']'],
  [']', '['],
  ['{', '}'],
  ['}', '{'],
  ['<', '>'],
  ['>', '<'],
  ['«', '»'],
  ['»', '«'],
])

export const isRightToLeft = (text: string): boolean => rightToLeft.test(text)

/** Whether most of the letters are written from right to left. */
export function isMostlyRightToLeft(text: string): boolean {
  if (!rightToLeft.test(text)) return false
  let balance = 0
  for (const char of text) {
    if (rightToLeft.test(char)) balance++
    else if (/\p{L}/u.test(char)) balance--
  }
  return balance > 0
}

/** Returns pieces of text, given from left to right, in the order of reading. */
export function logicalOrder<Piece extends { text: string }>(pieces: readonly Piece[]): Piece[] {
  if (!pieces.some(({ text }) => text.charCodeAt(0) >= 0x590)) return [...pieces]
  const all = pieces.map(({ text }) => text).join('')
  if (!rightToLeft.test(all)) return [...pieces]
  const isBaseRtl = isMostlyRightToLeft(all)
  const directions = directionsOf(pieces, isBaseRtl)
  const runs: { isRtl: boolean; pieces: Piece[] }[] = []
  for (const [at, piece] of pieces.entries()) {
    const isRtl = directions[at]!
    const last = runs.at(-1)
    if (last?.isRtl === isRtl) last.pieces.push(piece)
    else runs.push({ isRtl, pieces: [piece] })
  }
  const ordered = runs.map((run) => (run.isRtl ? run.pieces.toReversed().map(mirrored) : run.pieces))
  return (isBaseRtl ? ordered.toReversed() : ordered).flat()
}

/** Neutral characters belong to equal neighbours on both sides, else to the direction of the line. */
function directionsOf(pieces: readonly { text: string }[], isBaseRtl: boolean): boolean[] {
  const strong = pieces.map(({ text }) => (rightToLeft.test(text) ? true : leftToRight.test(text) ? false : undefined))
  const before: (boolean | undefined)[] = []
  let latest: boolean | undefined
  for (const one of strong) before.push((latest = one ?? latest))
  latest = undefined
  const directions: boolean[] = []
  for (let at = strong.length - 1; at >= 0; at--) {
    latest = strong[at] ?? latest
    const [left, right] = [before[at] ?? isBaseRtl, latest ?? isBaseRtl]
    directions[at] = strong[at] ?? (left === right ? left : isBaseRtl)
  }
  return directions
}

const mirrored = <Piece extends { text: string }>(piece: Piece): Piece => {
  const other = brackets.get(piece.text)
  return other === undefined ? piece : { ...piece, text: other }
}
