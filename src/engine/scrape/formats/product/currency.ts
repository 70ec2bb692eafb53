/** Currencies of prices. Signs that several currencies share, such as `$`, name none of them. */

const codes = new Set(Intl.supportedValuesOf('currency'))

/** Codes of signs and names that belong to one currency, in lower case. */
const owners: Readonly<Record<string, string>> = {
  '€': 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  '£': 'GBP',
  '₹': 'INR',
  '₩': 'KRW',
  '₺': 'TRY',
  '₽': 'RUB',
  '₴': 'UAH',
  '₫': 'VND',
  '฿': 'THB',
  '₪': 'ILS',
  '₦': 'NGN',
  '₱': 'PHP',
  '₸': 'KZT',
  '₾': 'GEL',
  '₡': 'CRC',
  '₲': 'PYG',
  '₵': 'GHS',
  '৳': 'BDT',
  '₿': 'BTC',
  zł: 'PLN',
  kč: 'CZK',
  ft: 'HUF',
  лв: 'BGN',
  руб: 'RUB',
  円: 'JPY',
  원: 'KRW',
  us$: 'USD',
  au$: 'AUD',
  a$: 'AUD',
  ca$: 'CAD',
  c$: 'CAD',
  cad$: 'CAD',
  nz$: 'NZD',
  hk$: 'HKD',
  sg$: 'SGD',
  s$: 'SGD',
  nt$: 'TWD',
  mx$: 'MXN',
  r$: 'BRL',
  'cn¥': 'CNY',
  'jp¥': 'JPY',
  rmb: 'CNY',
  rp: 'IDR',
  rm: 'MYR',
  dhs: 'AED',
}

/** Currencies of signs that several share. */
const shared: Readonly<Record<string, RegExp>> = {
  $: /^(?:...)?(?:USD|AUD|CAD|NZD|HKD|SGD|TWD|MXN|ARS|CLP|COP|BSD|BBD|BZD|BMD|BND|KYD|XCD|FJD|GYD|JMD|LRD|NAD|SBD|SRD|TTD|UYU|ZWL|DOP|CUP|BRL|NIO)$/,
  '¥': /^(?:JPY|CNY)$/,
  元: /^(?:CNY|TWD|HKD)$/,
  kr: /^(?:SEK|NOK|DKK|ISK)$/,
  rs: /^(?:INR|PKR|LKR|NPR|MUR|SCR)$/,
  fr: /^(?:CHF|XAF|XOF|XPF)$/,
  lei: /^(?:RON|MDL)$/,
}

/** Currencies whose amounts have three decimals. */
export const hasThreeDecimals = (code: string | undefined): boolean =>
  code !== undefined && /^(?:BHD|IQD|JOD|KWD|LYD|OMR|TND)$/.test(code)

const plainSign = (sign: string): string =>
  sign.trim().replace(/\.+$/, '').replaceAll('￥', '¥').replaceAll('＄', '$').replaceAll('￡', '£')

/** Returns the ISO 4217 code that a code, sign or name stands for; undefined if it may be several. */
export function currencyOf(sign: string): string | undefined {
  const plain = plainSign(sign)
  const code = plain.toUpperCase()
  return codes.has(code) ? code : owners[plain.toLowerCase()]
}

/** Whether a sign may stand for a currency. */
export function mayBe(sign: string, code: string): boolean {
  const own = currencyOf(sign)
  const others = shared[plainSign(sign).toLowerCase()]
  return own === undefined ? (others?.test(code) ?? true) : own === code
}

const escaped = (text: string): string => text.replaceAll(/[$.]/g, String.raw`\$&`)
const casesOf = (sign: string): string[] => {
  const first = sign[0]!.toUpperCase() + sign.slice(1)
  // `ft` is a length, and `rm` a command.
  if (sign === 'ft') return [first]
  return sign === 'rm' ? ['RM'] : [sign, first, sign.toUpperCase()]
}
const signs = [...new Set([...Object.keys(owners), ...Object.keys(shared), '￥', '＄', '￡'].flatMap(casesOf))]
  .toSorted((one, other) => other.length - one.length)
  .map(escaped)
const isName = (sign: string): boolean => /^\p{L}+$/u.test(sign)

/** Whether a code is also a word, as in `TOP 10`, or an abbreviation, as in `CAD 2020`. */
export const isWord = (sign: string): boolean =>
  /^(?:ALL|BAM|BOB|CAD|COP|CUP|DOP|GEL|LAK|MAD|MOP|MUR|NAD|PEN|RON|SOS|STN|TOP|TRY|VES)$/.test(sign)

export const codePattern = String.raw`(?<!\p{L})(?:${[...codes].join('|')})(?!\p{L})`

/** Pattern of a currency beside an amount: an ISO code in capitals, a sign, or a name. Words stand alone. */
export const currencyPattern = [
  codePattern,
  String.raw`(?<!\p{L})(?:${signs.filter(isName).join('|')})(?!\p{L})\.?`,
  signs.filter((sign) => !isName(sign)).join('|'),
].join('|')
