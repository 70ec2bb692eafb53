/** Represents the bytes of names and paths in JSON and URLs. */
import { isUtf8 } from 'node:buffer'

/** Decodes a name; one that is not UTF-8 contains U+FFFD and comes with its bytes as base64. */
export function shownName(bytes: Uint8Array): { name: string; name_b64?: string } {
  const buffer = Buffer.from(bytes)
  const name = buffer.toString('utf8')
  return isUtf8(buffer) ? { name } : { name, name_b64: buffer.toString('base64') }
}

/** Decodes a path like `shownName`. */
export function shownPath(bytes: Uint8Array | string): { path: string; path_b64?: string } {
  const { name, name_b64 } = shownName(Buffer.from(bytes as string))
  return name_b64 === undefined ? { path: name } : { path: name, path_b64: name_b64 }
}

/** Percent-encodes everything but letters, digits and `-._~`. */
export const percentEncoded = (bytes: Uint8Array): string =>
  [...bytes]
    .map((byte) => {
      const letter = String.fromCharCode(byte)
      return /[\w.~-]/.test(letter) && byte < 0x80 ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

/** Decodes percent-encoded text to bytes; undefined if it is malformed. */
export function percentDecoded(text: string): Buffer | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined
  const bytes = Buffer.from(text, 'utf8')
  const decoded: number[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0x25) {
      decoded.push(Number.parseInt(bytes.toString('latin1', at + 1, at + 3), 16))
      at += 2
    } else decoded.push(bytes[at]!)
  }
  return Buffer.from(decoded)
}
