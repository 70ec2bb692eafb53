/** From bytes to text: byte order mark, Content-Type, the page's own declaration, then UTF-8 where it fits, windows-1252. */

export interface DecodedText {
  readonly text: string
  /** The encoding's name, e.g. `utf-8`, `windows-1252`. */
  readonly charset: string
}

/** `declares` says whether the text itself can name its encoding, as HTML and XML do. */
export async function decodeText(
  bytes: Uint8Array,
  contentType: string | null,
  { declares }: { declares: boolean },
): Promise<DecodedText> {
  const told = markOf(bytes) ?? known(/charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? '')?.[1])
  if (told) return decode(bytes, told)
  const declared = declares ? await declaredIn(bytes) : undefined
  if (declared) return decode(bytes, declared)
  const text = utf8(bytes)
  // Letters that all encodings share: what a browser calls it then.
  if (text === undefined || (declares && text.length === bytes.length)) return decode(bytes, 'windows-1252')
  return { text, charset: 'utf-8' }
}

function markOf([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  return undefined
}

/** The prescan of HTML's own rules; a page that says it is UTF-16 in ASCII letters is UTF-8. */
async function declaredIn(bytes: Uint8Array): Promise<string | undefined> {
  const { ResultType, Sniffer } = await import('encoding-sniffer/sniffer')
  const sniffer = new Sniffer()
  sniffer.write(bytes.subarray(0, 1024))
  const found = sniffer.resultType === ResultType.DEFAULT ? undefined : known(sniffer.encoding)
  return found?.startsWith('utf-16') && bytes[0] !== 0 && bytes[1] !== 0 ? 'utf-8' : found
}

/** The canonical name of a label; undefined when there is no such encoding. */
function known(label: string | undefined): string | undefined {
  if (!label) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

const decode = (bytes: Uint8Array, charset: string): DecodedText => ({
  text: new TextDecoder(charset).decode(bytes),
  charset,
})

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
