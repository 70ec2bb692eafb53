/**
 * Decodes text by byte order mark, Content-Type, declaration in the page, then as UTF-8 if valid, else by its letters.
 * Text that is valid UTF-8 is not decoded as a legacy encoding, whatever declares it: no other text looks like that.
 */
import { isAscii, isUtf8 } from 'node:buffer'
import { decoderFor, encodingName } from './decoder.ts'

export interface DecodedText {
  readonly text: string
  /** Name of the encoding, e.g. `utf-8`, `windows-1252`. */
  readonly charset: string
}

/** Decodes text. `declares` is true for formats that can declare their encoding, such as HTML and XML. */
export async function decodeText(
  bytes: Uint8Array,
  contentType: string | null,
  { declares }: { declares: boolean },
): Promise<DecodedText> {
  const charset = markOf(bytes) ?? (await charsetOf(bytes, contentType, declares))
  return { text: (await decoderFor(charset)).decode(bytes), charset }
}

/** Returns the encoding of XML or text of which the beginning is known: UTF-8 unless stated. */
export async function charsetOfStart(start: Uint8Array, contentType: string | null): Promise<string> {
  return markOf(start) ?? (await namedIn(contentType)) ?? wideIn(start) ?? (await declaredIn(start)) ?? 'utf-8'
}

async function namedIn(contentType: string | null): Promise<string | undefined> {
  const label = /charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? '')?.[1]
  return label === undefined ? undefined : encodingName(label)
}

async function charsetOf(bytes: Uint8Array, contentType: string | null, declares: boolean): Promise<string> {
  const named = await namedIn(contentType)
  if (named === 'utf-8' || named?.startsWith('utf-16')) return named
  const wide = wideIn(bytes)
  if (wide) return wide
  const isUnicode = isUtf8(bytes)
  // ISO-2022-JP has ASCII bytes only.
  const ascii = isUnicode && isAscii(bytes)
  if (isUnicode && !ascii) return 'utf-8'
  const declared = named ?? (declares ? await declaredIn(bytes) : undefined)
  if (declared) return declared
  // Browsers report windows-1252 for undeclared HTML that is pure ASCII.
  if (ascii) return declares ? 'windows-1252' : 'utf-8'
  return (await import('./detect-charset.ts')).detectCharset(bytes)
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  return undefined
}

/** Returns the byte order of UTF-16 without a mark, whose first characters are ASCII. */
function wideIn(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, 8)
  if (start.length < 8) return undefined
  const isZero = (odd: number) => start.every((byte, at) => (byte === 0) === (at % 2 === odd))
  if (isZero(1)) return 'utf-16le'
  return isZero(0) ? 'utf-16be' : undefined
}

/** Number of bytes in which the prescan of the HTML standard looks for a declaration. */
const prescanned = 1024
/** Number of bytes in which the parser of a browser would find a declaration that comes later in the head. */
const maxHead = 262_144

/** Returns the declared encoding by the prescan of the HTML standard, or of a later declaration in the head. */
export async function declaredIn(bytes: Uint8Array): Promise<string | undefined> {
  const { ResultType, Sniffer } = await import('encoding-sniffer/sniffer')
  const sniff = (part: Uint8Array) => {
    const sniffer = new Sniffer({ maxBytes: part.length })
    sniffer.write(part)
    return sniffer.resultType === ResultType.DEFAULT ? undefined : encodingName(sniffer.encoding)
  }
  const found = await sniff(bytes.subarray(0, prescanned))
  return found ?? (bytes.length > prescanned ? sniff(headOf(bytes)) : undefined)
}

/** Returns the head of a page without its comments, scripts and styles, whose text may look like declarations. */
function headOf(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, maxHead)).toString('latin1')
  const parts: string[] = []
  let at = 0
  for (const { 1: name, index } of text.matchAll(/<(script\b|style\b|!--|body\b|\/head\b)/gi)) {
    if (index < at) continue
    parts.push(text.slice(at, index))
    at = text.length
    if (/^(?:body|\/head)$/i.test(name!)) break
    const end = name === '!--' ? /-->/g : new RegExp(`</${name}`, 'gi')
    end.lastIndex = index
    if (!end.test(text)) break
    at = end.lastIndex
    // The rest of an end tag needs its start.
    if (name !== '!--') parts.push('</x')
  }
  parts.push(text.slice(at))
  return Buffer.from(parts.join(''), 'latin1')
}
