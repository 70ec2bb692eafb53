/** Reads web archives (MHTML). */

interface Part {
  readonly headers: string
  readonly body: Buffer
}

/** Returns the first HTML file of a web archive; undefined if there is none. */
export function pageOfMhtml(
  bytes: Uint8Array,
): { readonly bytes: Uint8Array; readonly contentType: string } | undefined {
  const { headers, body } = partOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const [, quoted, plain] = /\bboundary=(?:"([^"]+)"|([^\s;]+))/i.exec(header(headers, 'content-type')) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return undefined
  for (const part of partsOf(body, `--${boundary}`)) {
    const contentType = header(part.headers, 'content-type')
    if (/^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return { bytes: decoded(part), contentType }
  }
  return undefined
}

function partsOf(body: Buffer, mark: string): Part[] {
  const parts: Part[] = []
  let at = body.indexOf(mark)
  while (at >= 0) {
    const next = body.indexOf(`\n${mark}`, at + mark.length)
    parts.push(partOf(body.subarray(at + mark.length, next < 0 ? undefined : next)))
    at = next < 0 ? next : next + 1
  }
  return parts
}

/** Divides a part at its first empty line; lines that begin with spaces continue the header above. */
function partOf(bytes: Buffer): Part {
  const text = bytes.toString('latin1')
  const start = /^[^\S\n]*\n/.exec(text)?.[0].length ?? 0
  const end = /\r?\n\r?\n/.exec(text.slice(start))
  if (!end) return { headers: text, body: Buffer.alloc(0) }
  const at = start + end.index
  return { headers: text.slice(start, at).replaceAll(/\r?\n[ \t]+/g, ' '), body: bytes.subarray(at + end[0].length) }
}

const header = (headers: string, name: string): string =>
  new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(headers)?.[1]?.trim() ?? ''

function decoded({ headers, body }: Part): Uint8Array {
  const encoding = header(headers, 'content-transfer-encoding').toLowerCase()
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64')
  if (encoding !== 'quoted-printable') return body
  const text = body.toString('latin1').replaceAll(/=[ \t]*\r?\n/g, '')
  return Buffer.from(
    text.replaceAll(/=([\dA-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  )
}
