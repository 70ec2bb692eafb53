/** Masks the values of secrets in the output of scripts and of sessions, also in encoded form. */

/** Replaces secrets. */
export interface Mask {
  /** Masks a text. */
  text(text: string): string
  /** Masks a file name, with characters that are allowed on every platform. */
  name(text: string): string
  /** Masks every text, key and number inside a value. */
  deep<T>(value: T): T
  /** Masks text in any ASCII-compatible encoding; undefined when it contains no secrets. */
  bytes(bytes: Uint8Array): Buffer | undefined
}

const stars = '***'

/** Returns a mask for these values, and for each line of them; empty values are ignored. */
export function makeMask(secrets: Iterable<string>): Mask {
  const values = [...new Set([...secrets].flatMap((secret) => [secret, ...secret.split(/\r?\n/)]))].filter(
    (part) => part !== '',
  )
  const inText = regExp(spellingsOfAll(values))
  const inBytes = regExp(spellingsOfAll(values, latin))
  const text = (given: string) => (inText ? given.replaceAll(inText, stars) : given)
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return text(String(value)) === String(value) ? value : text(String(value))
    if (Array.isArray(value)) return value.map(deep)
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), deep(item)]))
  }
  return {
    text,
    name: (given) => (inText ? given.replaceAll(inText, 'xxx') : given),
    deep: (value) => (inText ? (deep(value) as typeof value) : value),
    bytes(given) {
      if (!inBytes) return undefined
      const before = Buffer.from(given).toString('latin1')
      const after = before.replaceAll(inBytes, stars)
      return after === before ? undefined : Buffer.from(after, 'latin1')
    },
  }
}

const regExp = (pattern: string) => (pattern === '' ? undefined : new RegExp(pattern, 'g'))

/** Returns a pattern for texts, longest first, in all their spellings and inside of base64; empty without texts. */
export function spellingsOfAll(texts: readonly string[], raw?: (character: string) => string): string {
  const byLength = texts.toSorted((a, b) => b.length - a.length)
  return [...byLength.map((text) => spellings(text, raw)), ...byLength.flatMap(inBase64)].join('|')
}

/** Returns the UTF-8 bytes of a text as one character each, to search in bytes. */
const latin = (text: string) => Buffer.from(text).toString('latin1')

/**
 * Returns a pattern for text that may be escaped as in JSON, URLs, HTML or Markdown, also several times; `raw` converts
 * unescaped characters. Matching takes time in proportion to the text: no two repetitions of a pattern match the same
 * run of characters.
 */
function spellings(text: string, raw = (character: string) => character): string {
  const parts = text.match(/\\+|[^\\]/gu) ?? []
  return parts
    .map((part, at) => {
      if (part[0] === '\\') return `${at === 0 ? notEscaped : ''}${backslash}{${part.length},}`
      const escapes = at === 0 ? `(?:${notEscaped}${backslash}+)?` : parts[at - 1]![0] === '\\' ? '' : `${backslash}*`
      return spellingsOf(part, raw(part), escapes)
    })
    .join('')
}

/** Repeated encodings of the `%` and the `&` that begin an encoded character. */
const percentSign = '%(?:25)*'
const ampersand = '&(?:amp;|#0*38;|#[xX]0*26;)*'
const backslash = `(?:\\\\|${percentSign}5[cC]|${ampersand}#0*92;|${ampersand}#[xX]0*5[cC];)`
/** Prevents a match from each position in a run of backslashes. */
const notEscaped = `(?<!\\\\|${percentSign}5[cC])`

const named: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos', '\u00a0': 'nbsp' }
const inJson: Record<string, string> = { '\n': 'n', '\r': 'r', '\t': 't' }

/** Returns a pattern for a character behind the backslashes that may escape it. */
function spellingsOf(character: string, raw: string, escapes: string): string {
  const code = character.codePointAt(0)!
  const units = Array.from(
    { length: character.length },
    (_, at) => `u${anyCase(character.charCodeAt(at).toString(16).padStart(4, '0'))}`,
  )
  const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'))
  const name = named[character]
  const patterns = [
    escape(raw),
    bytes.map((byte) => percentSign + anyCase(byte)).join(''),
    `${ampersand}#0*${code};`,
    `${ampersand}#[xX]0*${anyCase(code.toString(16))};`,
    ...(character === ' ' ? ['\\+', `${percentSign}2[bB]`] : []),
    ...(name === undefined ? [] : [`${ampersand}${name};`]),
  ]
  const json = inJson[character]
  const escaped = [units.join(`${backslash}+`), ...(json === undefined ? [] : [json])].join('|')
  // Letters and digits are escaped only by their code.
  const plain = /[^\W_]|\s/.test(character) || character > '~' ? '' : escapes
  // Escapes are optional above, but not before a code.
  const required = escapes.replace(/\*$/, '+').replace(/\?$/, '')
  return `(?:${plain}(?:${patterns.join('|')})|${required}(?:${escaped}))`
}

const escape = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const anyCase = (text: string) => text.replaceAll(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)

/** Minimum length in bytes; shorter values would match by chance in images. */
const shortestInBase64 = 4

/**
 * Returns patterns for a text inside base64, which looks different at each of three offsets. Its first and last
 * characters depend on the neighbouring bytes and are omitted.
 */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text)
  if (bytes.length < shortestInBase64) return []
  return [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    const start = [0, 2, 3][offset]!
    const isComplete = (offset + bytes.length) % 3 === 0
    const inner = isComplete ? whole.slice(start) : whole.slice(start, -1)
    return escape(inner).replaceAll('\\+', '[+-]').replaceAll('\\/', '[/_]')
  })
}

/**
 * Masks the files of a zipped Playwright trace, which contains typed texts and copies of pages. Images, and traces
 * without secrets, stay unchanged.
 */
export async function maskTrace(zip: Uint8Array, mask: Mask): Promise<Uint8Array> {
  const { unzipSync, zipSync } = await import('fflate')
  const entries = unzipSync(zip)
  let changed = false
  const masked = Object.entries(entries).map(([name, bytes]) => {
    const cleaned = isBinary(name) ? undefined : mask.bytes(bytes)
    changed ||= cleaned !== undefined
    return [name, cleaned ?? bytes] as const
  })
  return changed ? zipSync(Object.fromEntries(masked), { level: 6 }) : zip
}

const isBinary = (name: string) => /\.(png|jpe?g|webp|gif|woff2?)$/i.test(name)
