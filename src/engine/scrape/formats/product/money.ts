/** Reads prices as pages write them: `1.299,00 €`, `1'299.00`, `¥1,299`, `from $5`. */
import { codePattern, currencyOf, currencyPattern, hasThreeDecimals, isWord } from './currency.ts'

/** A price in a text. */
export interface Money {
  readonly text: string
  readonly amount: number
  /** The currency as written; empty if there is none. */
  readonly sign: string
  /** ISO 4217 code, if the sign stands for one currency only. */
  readonly currency?: string
  /** Whether the text says that other prices are higher. */
  readonly from?: true
  /** End of a range. */
  readonly highest?: number
}

/** Texts are short; longer ones are not read further. */
const maxText = 300

const gap = '[ \\u00a0\\u202f\\u2009]'
const group = `(?:[.,'’٬]|${gap})`
/** Groups of three digits, of two as in India, or none; then decimals, or a dash in their place. Every part is bounded. */
const number = [
  String.raw`\d{1,3}(?:${group}\d{3}){1,5}(?!\d)(?:[.,\u066b]\d{1,2}(?!\d))?`,
  String.raw`\d{1,2}(?:,\d{2}){1,4},\d{3}(?!\d)(?:\.\d{1,2}(?!\d))?`,
  String.raw`\d{1,12}(?:[.,\u066b]\d{1,3}(?!\d))?`,
].join('|')
const dash = '(?:[.,][-–—]{1,2})?'

const before = String.raw`(?<signBefore>${currencyPattern})${gap}{0,2}(?<numberAfter>${number})${dash}(?:${gap}{0,2}(?<code>${codePattern}))?`
const after = String.raw`(?<![\d.,])(?<numberBefore>${number})${dash}${gap}{0,2}(?<signAfter>${currencyPattern})`
/** `12€50` */
const between = String.raw`(?<![\d.,])(?<whole>\d{1,6})(?<signBetween>[\u20ac\u00a3$])(?<cents>\d{2})(?![\d.,]|${gap}?[\u20ac\u00a3$])`
/** A sign between two amounts belongs to the one that it touches, else to the first. */
const pattern = new RegExp(String.raw`${between}|(?:${after})(?!\d)|${before}`, 'gu')

const lowest =
  /(?:^|[\s(:])(?:from|starting (?:at|from)|as low as|ab|à partir de|a partir (?:de|da)|dès|desde|da|vanaf|fra|från|alkaen|od|от|~)[\s:]*$/iu
const lowestAfter = /^\s*(?:から|より|〜|~|起|부터|\+|and up)/u

const zeros = [0x06_60, 0x06_f0, 0x09_66, 0x09_e6, 0x0e_50, 0xff_10]

/** Replaces the digits of other scripts by those of ASCII. */
const plainDigits = (text: string): string =>
  /^[\0-\u05ff]*$/.test(text)
    ? text
    : text.replaceAll(/\p{Nd}/gu, (digit) => {
        const code = digit.codePointAt(0)!
        const zero = zeros.find((first) => code >= first && code < first + 10)
        return zero === undefined ? digit : String(code - zero)
      })

/** Returns the prices with a currency in a text, in order. Ranges are one price. */
export function pricesIn(source: string): Money[] {
  const text = plainDigits(source.slice(0, maxText))
  const found: { money: Money; start: number; end: number }[] = []
  for (const { index, 0: whole, groups = {} } of text.matchAll(pattern)) {
    const sign = (groups['signBefore'] ?? groups['signAfter'] ?? groups['signBetween'])!
    const digits = groups['numberAfter'] ?? groups['numberBefore'] ?? `${groups['whole']}.${groups['cents']}`
    // The code of `$5 CAD` says more than the sign.
    const currency = currencyOf(groups['code'] ?? sign)
    const amount = amountOf(digits, currency)
    if (amount === undefined || isPartOfWord(text, index, whole)) continue
    if (isWord(sign) && !/\D/.test(digits)) continue
    const end = index + whole.length
    const last = found.at(-1)
    if (
      last &&
      last.money.highest === undefined &&
      amount > last.money.amount &&
      isRange(text.slice(last.end, index))
    ) {
      const { start, money } = last
      const range = { ...money, text: source.slice(start, end), from: true, highest: amount } as const
      found[found.length - 1] = { start, end, money: range }
      continue
    }
    if (isNegative(text, index)) continue
    const isLowest =
      lowest.test(text.slice(Math.max(0, index - 20), index)) || lowestAfter.test(text.slice(end, end + 9))
    const shown = source.slice(index, end).trim()
    const money = { text: shown, amount, sign, ...(currency && { currency }), ...(isLowest && { from: true as const }) }
    found.push({ money, start: index, end })
  }
  return found.map(({ money }) => money)
}

/** Whether a match continues a number, a word or an identifier: `SKU-12.50`. */
const isPartOfWord = (text: string, index: number, whole: string): boolean =>
  /[\d\p{L}][.,'’-]?$/u.test(text.slice(Math.max(0, index - 2), index)) && /^\d/.test(whole)

/** Whether a price has a minus sign, as discounts have. */
const isNegative = (text: string, index: number): boolean => /(?:^|[\s(])[-−–]\s?$/.test(text.slice(0, index).slice(-4))

const isRange = (words: string): boolean => /^\s*(?:[-–—~〜]|to|bis|à|a|до|do|til|tot)\s*$/iu.test(words)

/** Reads a price of structured data, where the currency is a field of its own. */
export function priceOf(value: string, currency: string | undefined): Omit<Money, 'sign'> | undefined {
  const text = value.trim().slice(0, maxText)
  if (text === '') return undefined
  const [money] = pricesIn(text)
  if (money) {
    const { amount, currency: own, from, highest } = money
    return { text, amount, ...(own && { currency: own }), ...(from && { from }), ...(highest && { highest }) }
  }
  // The form of schema.org, with a point and any number of decimals.
  const amount = /^\d{1,15}(?:\.\d{1,10})?$/.test(text) ? Number(text) : amountOf(bareNumber(text) ?? '', currency)
  const isLowest = lowest.test(text.replace(/\d.*$/s, ''))
  return amount === undefined ? undefined : { text, amount, ...(isLowest && { from: true }) }
}

const bare = new RegExp(`^[^\\d]{0,20}(${number})${dash}[^\\d]{0,20}$`, 'u')
const bareNumber = (text: string): string | undefined => bare.exec(plainDigits(text))?.[1]

/** Reads the digits of a price: separators before three digits at the end group, unless the currency has three decimals. */
function amountOf(digits: string, currency?: string): number | undefined {
  const plain = digits
    .replaceAll(/[^\d.,٫٬]/g, '')
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')
  if (!/\d/.test(plain)) return undefined
  const last = Math.max(plain.lastIndexOf('.'), plain.lastIndexOf(','))
  if (last < 0) return Number(plain)
  const decimals = plain.length - last - 1
  const separator = plain[last]!
  const isSingle = plain.indexOf(separator) === last
  const hasOther = /\./.test(plain) && /,/.test(plain)
  const isDecimal = isSingle && (decimals !== 3 || hasThreeDecimals(currency) || hasOther || /^0[.,]/.test(plain))
  // Groups of two separators, such as 1.299,000, do not exist.
  const [whole, rest] = isDecimal ? [plain.slice(0, last), plain.slice(last + 1)] : [plain, '']
  return Number(`${whole.replaceAll(/[.,]/g, '')}.${rest || '0'}`)
}
