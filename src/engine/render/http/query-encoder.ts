/** Encoders of the queries of URLs, by the encoding of the page that contains them. */
import type { QueryEncoder } from '../../extract/url-queries.ts'
import { isMultiByte, isSingleByte } from './decoder.ts'

type Encode = (text: string) => Uint8Array

/** Returns the encoder for the canonical name of an encoding; undefined where queries are UTF-8. */
export async function queryEncoderFor(charset: string): Promise<QueryEncoder | undefined> {
  const encode = await encoderOf(charset)
  return encode && ((query) => percentEncoded(query, encode))
}

async function encoderOf(charset: string): Promise<Encode | undefined> {
  if (isMultiByte(charset)) return (await import('@exodus/bytes/multi-byte.js')).createMultibyteEncoder(charset)
  if (isSingleByte(charset)) return (await import('@exodus/bytes/single-byte.js')).createSinglebyteEncoder(charset)
  return undefined
}

/** Encodes text; characters outside the encoding become `&#…;`. */
function percentEncoded(text: string, encode: Encode): string {
  const whole = tryEncode(text, encode)
  if (whole) return escaped(whole)
  let result = ''
  // The longest parts that the encoding has, because ISO-2022-JP switches between sets of characters.
  let part = ''
  for (const character of text) {
    if (tryEncode(character, encode)) part += character
    else {
      result += `${escaped(encode(part))}%26%23${character.codePointAt(0)}%3B`
      part = ''
    }
  }
  return result + escaped(encode(part))
}

function tryEncode(text: string, encode: Encode): Uint8Array | undefined {
  try {
    return encode(text)
  } catch {
    return undefined
  }
}

/** Escapes the bytes that the query of an HTTP URL cannot contain. */
const escaped = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('latin1')
    .replaceAll(
      /[\0- "#'<>\u007f-\u00ff]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
