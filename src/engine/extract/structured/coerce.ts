/** Converts text of a page into values of a schema's types. */
import type { Shape } from './shape.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Converts text to the type of the shape; undefined when it does not fit. */
export function coerce(text: string, shape: Shape): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (shape.choices) return choice(trimmed, shape.choices)
  switch (shape.kind) {
    case 'number':
      return toNumber(trimmed)
    case 'integer': {
      const number = toNumber(trimmed, true)
      return number !== undefined && Number.isInteger(number) ? number : undefined
    }
    case 'boolean':
      return toBoolean(trimmed)
    case 'string':
      return toText(trimmed, shape.format)
    case 'any':
      return trimmed
    default:
      return undefined
  }
}

function toText(text: string, format: string | undefined): string | undefined {
  switch (format) {
    case 'date':
      return toDate(text)?.slice(0, 10)
    case 'date-time':
      return toDate(text)
    case 'email':
      return emailIn(text)
    case 'uri':
    case 'url':
      return parseUrl(text) ? text : undefined
    default:
      return text
  }
}

export const emailIn = (text: string): string | undefined =>
  /[\w.+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,4}/i.exec(text.slice(0, 2000))?.[0]

const plain = (value: unknown): string =>
  String(value)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

function choice(text: string, choices: readonly unknown[]): unknown {
  const letters = plain(text)
  const exact = choices.find((value) => plain(value) === letters)
  if (exact !== undefined || text.length > 80) return exact
  return choices.find((value) => plain(value).length > 2 && letters.includes(plain(value)))
}

/** `5 m` are metres and `5M` are millions. */
const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  K: 1e3,
  M: 1e6,
  B: 1e9,
  thousand: 1e3,
  mio: 1e6,
  million: 1e6,
  bn: 1e9,
  billion: 1e9,
}

/** Parses the number in a short text: `1,299.00 €`, `1.299,00`, `4.5 out of 5`, `12k`. */
function toNumber(text: string, whole = false): number | undefined {
  if (text.length > 120) return undefined
  const found =
    /(?<sign>[-−–]\s?)?(?:[$€£¥₹]\s?)?(?<digits>\d(?:[\d.,'’\u00a0\u202f ]*\d)?)(?<scale>[kmb]\b|\s?(?:thousand|mio|million|bn|billion)\b)?/i.exec(
      text,
    )
  if (!found?.groups) return undefined
  const { sign, digits = '', scale = '' } = found.groups
  // The hyphen of `Room-12` is not a minus sign.
  const negative = sign !== undefined && !/\w/.test(text[found.index - 1] ?? '')
  const grouped = whole || /€|eur|chf|kr\b/i.test(text)
  const number =
    Number(plainDigits(digits, grouped)) * (scales[scale.length > 1 ? scale.trim().toLowerCase() : scale] ?? 1)
  if (!Number.isFinite(number)) return undefined
  return negative ? -number : number
}

/** Removes group separators; `dots`: whether a dot before three digits is one, as in many euro countries. */
function plainDigits(digits: string, dots: boolean): string {
  // Use the first of two adjacent numbers, unless the space only groups digits.
  const grouped = /^\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?$/.test(digits)
  const bare = (grouped ? digits : digits.split(/[\s'’]/)[0]!).replaceAll(/[\s'’]/g, '')
  const comma = bare.lastIndexOf(',')
  const dot = bare.lastIndexOf('.')
  if (comma >= 0 && dot >= 0) {
    return comma > dot ? bare.replaceAll('.', '').replace(',', '.') : bare.replaceAll(',', '')
  }
  const sign = comma >= 0 ? ',' : '.'
  const parts = bare.split(sign)
  if (parts.length === 1) return bare
  const groups = parts.length > 2 || (parts[1]!.length === 3 && parts[0] !== '0' && (sign === ',' || dots))
  return groups ? parts.join('') : parts.join('.')
}

function toBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase().replace(/^https?:\/\/schema\.org\//, '')
  if (lower.length > 60) return undefined
  if (
    /^(?:no|none|false|off|0|✗|✘|❌|nein|non|n)$|out of stock|outofstock|sold ?out|unavailable|not available|discontinued|closed|ausverkauft/.test(
      lower,
    )
  )
    return false
  if (
    /^(?:yes|true|on|1|✓|✔|✅|ja|oui|sí|y)(?:\b|$)|in ?stock|available|included|^open\b|auf lager|lieferbar/.test(lower)
  )
    return true
  return undefined
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** Parses a date as ISO 8601, with the time if given; undefined when the text has no date. */
function toDate(text: string): string | undefined {
  const iso = /\b(\d{4})-(\d{2})-(\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?/.exec(text)
  if (iso) return isDay(Number(iso[1]), Number(iso[2]), Number(iso[3])) ? iso[0].replace(' ', 'T') : undefined
  const named =
    /\b([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/i.exec(text) ??
    /\b(\d{1,2})(?:st|nd|rd|th|\.)? ([a-z]{3,9})\.?,? (\d{4})\b/i.exec(text)
  if (named) {
    const [word, day] = /^\d/.test(named[1]!) ? [named[2]!, named[1]!] : [named[1]!, named[2]!]
    return day10(Number(named[3]), months.indexOf(word.slice(0, 3).toLowerCase()) + 1, Number(day))
  }
  const dotted = /\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b/.exec(text)
  if (dotted) return day10(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]))
  const slashed = /\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/.exec(text)
  if (!slashed) return undefined
  const [first, second] = [Number(slashed[1]), Number(slashed[2])]
  // Month first, as in the United States, unless that is impossible.
  return first > 12 ? day10(Number(slashed[3]), second, first) : day10(Number(slashed[3]), first, second)
}

const isDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate()

const day10 = (year: number, month: number, day: number): string | undefined =>
  isDay(year, month, day) ? `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}` : undefined
