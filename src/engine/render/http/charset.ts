/** Decodes text by byte order mark, Content-Type, declaration in the page, then as UTF-8 if valid, else windows-1252. */

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
  const named = markOf(bytes) ?? canonicalName(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? '')?.[1])
  if (named) return decode(bytes, named)
  const declared = declares ? await declaredIn(bytes) : undefined
  if (declared) return decode(bytes, declared)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // Browsers report windows-1252 for undeclared HTML that is pure ASCII.
    if (!declares || text.length !== bytes.length) return { text, charset: 'utf-8' }
  } catch {
    // The bytes are not valid UTF-8.
  }
  return decode(bytes, 'windows-1252')
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  return undefined
}

/** Returns the declared encoding by the prescan of the HTML standard. UTF-16 declared in ASCII is UTF-8. */
async function declaredIn(bytes: Uint8Array): Promise<string | undefined> {
  const { ResultType, Sniffer } = await import('encoding-sniffer/sniffer')
  const sniffer = new Sniffer()
  sniffer.write(bytes.subarray(0, 1024))
  const found = sniffer.resultType === ResultType.DEFAULT ? undefined : canonicalName(sniffer.encoding)
  return found?.startsWith('utf-16') && bytes[0] !== 0 && bytes[1] !== 0 ? 'utf-8' : found
}

/** Returns the canonical name of an encoding label, undefined if it is unknown. */
function canonicalName(label: string | undefined): string | undefined {
  if (!label) return undefined
  try {
    return decoderFor(label).encoding
  } catch {
    return undefined
  }
}

/** The last decoder, because creating one takes long, and most pages have the same encoding. */
let last = { label: 'utf-8', decoder: new TextDecoder() }

/** @throws RangeError for an unknown label */
function decoderFor(label: string): TextDecoder {
  if (label !== last.label) last = { label, decoder: new TextDecoder(label) }
  return last.decoder
}

const decode = (bytes: Uint8Array, charset: string): DecodedText => ({
  text: decoderFor(charset).decode(bytes),
  charset,
})
