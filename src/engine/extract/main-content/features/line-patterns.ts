/** Recognizes patterns of short lines: prices, dates, bylines. */

const patterns: readonly RegExp[] = [
  /©|\(c\)\s*(?:19|20)\d\d|\bcopyright\b|all rights reserved/i,
  /^[^a-z]*[$€£¥]\s?\d|\d\s?[$€£¥]|\b(?:USD|EUR|GBP)\b/i,
  /^\W*(?:by|von|par|por|di|door|av)\s+\p{Lu}/iu,
  /\b(?:19|20)\d\d\b.{0,20}$|\b\d{1,2}:\d\d\b|\b\d+\s(?:hours?|days?|weeks?|months?|years?|min(?:ute)?s?)\s(?:ago|read)\b/i,
  /@[\w-]+\.\w|\bhttps?:\/\//,
  /^[\d\s.,:/+-]+$/,
  /[|›»→>]\s*\S|^\s*[‹«←<]/,
  /:$/,
]

/** Codes (positions in `patterns`, from 1) of prices and dates. */
export const pricePattern = 2
export const datePattern = 4

/** Returns the code (position in `patterns`, from 1) of a short line; 0 for none. */
export function linePatternOf(text: string): number {
  if (text.length > 160) return 0
  return patterns.findIndex((pattern) => pattern.test(text)) + 1
}
