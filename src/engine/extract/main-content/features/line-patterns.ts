/** Patterns of short lines: prices, dates, bylines. */

const patternsOfLines: readonly RegExp[] = [
  /©|\(c\)\s*(?:19|20)\d\d|\bcopyright\b|all rights reserved/i,
  /^[^a-z]*[$€£¥]\s?\d|\d\s?[$€£¥]|\b(?:USD|EUR|GBP)\b/i,
  /^\W*(?:by|von|par|por|di|door|av)\s+\p{Lu}/iu,
  /\b(?:19|20)\d\d\b.{0,20}$|\b\d{1,2}:\d\d\b|\b\d+\s(?:hours?|days?|weeks?|months?|years?|min(?:ute)?s?)\s(?:ago|read)\b/i,
  /@[\w-]+\.\w|\bhttps?:\/\//,
  /^[\d\s.,:/+-]+$/,
  /[|›»→>]\s*\S|^\s*[‹«←<]/,
  /:$/,
]

/** Codes (positions in `patternsOfLines`, from 1) of prices and dates. */
export const pricePattern = 2
export const datePattern = 4

const maxLineLength = 160

/** Returns the code of a short line; 0 for none. */
export function patternOf(line: string): number {
  if (line.length > maxLineLength) return 0
  for (let code = 1; code <= patternsOfLines.length; code++) if (patternsOfLines[code - 1]!.test(line)) return code
  return 0
}
