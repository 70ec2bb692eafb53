/** Detects the encoding of undeclared text by its letters, as browsers do. */
import { alphabets } from './alphabets.ts'
import { decoderFor } from './decoder.ts'

/** Number of bytes to examine. */
const examined = 65_536

/** Names of decoders by those of the detector. */
const asian: ReadonlyMap<string, string> = new Map([
  ['Shift_JIS', 'shift_jis'],
  ['EUC-JP', 'euc-jp'],
  ['GB18030', 'gbk'],
  ['Big5', 'big5'],
  ['EUC-KR', 'euc-kr'],
])
/** Encodings of other letters than Latin ones. That of ISO-8859-8 is a part of windows-1255. */
const other: ReadonlyMap<string, string> = new Map([
  ['windows-1251', 'windows-1251'],
  ['KOI8-R', 'koi8-r'],
  ['ISO-8859-5', 'iso-8859-5'],
  ['ISO-8859-7', 'iso-8859-7'],
  ['windows-1253', 'windows-1253'],
  ['ISO-8859-8', 'windows-1255'],
  ['windows-1255', 'windows-1255'],
  ['ISO-8859-6', 'iso-8859-6'],
  ['windows-1256', 'windows-1256'],
  ['windows-874', 'windows-874'],
])

/** Returns the encoding of text that is not UTF-8: windows-1252 unless its letters are clearly others. */
export async function detectCharset(bytes: Uint8Array): Promise<string> {
  const { default: chardet } = await import('chardet')
  const sample = bytes.subarray(0, examined)
  // In Asian encodings the second byte of a character may be a letter of ASCII, so they are detected in all text.
  const found = chardet.analyse(sample).find(({ name }) => asian.has(name))
  if (found && found.confidence >= 60) return asian.get(found.name)!
  const words = wordsOf(sample)
  if (isLatin(words)) return (await latinEncoding(words)) ?? 'windows-1252'
  for (const { name, confidence } of chardet.analyse(bytesOf(words.join(' ')))) {
    const encoding = confidence >= 10 ? other.get(name) : undefined
    if (encoding && (await isPlausible(encoding, words))) return similarTo(encoding, words)
  }
  return 'windows-1252'
}

/** Returns the words with bytes outside ASCII: markup and English text say nothing about the encoding. */
function wordsOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return (text.match(/[a-z\u0080-\u00ff]+/gi) ?? []).filter((word) => /[\u0080-\u00ff]/.test(word))
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Whether most letters of the words are ASCII. In other scripts nearly none are. */
function isLatin(words: readonly string[]): boolean {
  const long = words.filter((word) => word.length > 1).join('')
  return long.replaceAll(/[^a-z]/gi, '').length >= long.length * 0.4
}

/** Returns the encoding in which a language has all letters of the text, if windows-1252 has no such language. */
async function latinEncoding(words: readonly string[]): Promise<string | undefined> {
  // Quotation marks around words are letters in ISO-8859-2.
  const bytes = bytesOf(words.map((word) => word.replaceAll(/^«|»$/g, '')).join(' '))
  let western = 0
  let best = { fit: 0, encoding: '' }
  for (const [encoding, languages] of alphabets) {
    const text = (await decoderFor(encoding)).decode(bytes)
    const fit = Math.max(...languages.map((letters) => fitOf(text, letters)))
    if (encoding === 'windows-1252') western = fit
    else if (fit > best.fit) best = { fit, encoding }
  }
  const more = best.fit - western
  return (best.fit >= 0.95 && more >= 0.1) || (best.fit >= 0.99 && more >= 0.03) ? best.encoding : undefined
}

/** Returns which part of the letters outside ASCII belongs to an alphabet. */
function fitOf(text: string, alphabet: string): number {
  // Other signs between letters are letters in another encoding.
  const signs = text.match(/(?<=\p{L})[^\p{L}\s\u00ad·'’‘–—-](?=\p{L})/gu)?.length ?? 0
  const letters = text.match(/[^\P{L}\0-\u007f]/gu) ?? []
  // “İ” is two characters in lower case.
  const known = letters.filter((letter) => alphabet.includes(letter.toLowerCase()[0]!)).length
  return letters.length + signs === 0 ? 1 : known / (letters.length + signs)
}

/** Whether the words are words in an encoding: small letters before capital ones and accents at the start are not. */
async function isPlausible(encoding: string, words: readonly string[]): Promise<boolean> {
  const text = ` ${(await decoderFor(encoding)).decode(bytesOf(words.join(' ')))}`
  const odd = text.match(/\p{Ll}\p{Lu}|\s\p{M}|\ufffd/gu)?.length ?? 0
  return odd <= words.length * 0.2
}

/** Returns the encoding, or one that differs in few letters if the words contain those. */
function similarTo(encoding: string, words: readonly string[]): string {
  // Ukrainian letters are in place of lines for drawing boxes.
  if (encoding === 'koi8-r' && words.some((word) => /[\u00c0-\u00ff][¤¦§\u00ad]|[¤¦§\u00ad][\u00c0-\u00ff]/.test(word)))
    return 'koi8-u'
  return encoding
}
