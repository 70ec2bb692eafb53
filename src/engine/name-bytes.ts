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
  Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(/[^\w.~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)

/** Decodes percent-encoded text to bytes; undefined if it is malformed. */
export function percentDecoded(text: string): Buffer | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined
  const bytes = Buffer.from(text, 'utf8').toString('latin1')
  const decoded = bytes.replaceAll(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Buffer.from(decoded, 'latin1')
}
