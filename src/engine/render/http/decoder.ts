/**
 * Decoders of the Encoding Standard. `TextDecoder` of Node 20 and 22 decodes windows-1252 as ISO-8859-1
 * (https://github.com/nodejs/node/issues/56542), and that of no version is right for all legacy encodings, so only Unicode
 * is decoded with it.
 */

export interface Decoder {
  /** Canonical name of the encoding in lower case. */
  readonly encoding: string
  decode(bytes: Uint8Array): string
}

const unicode = new Set(['utf-8', 'utf-16le', 'utf-16be'])
const multiByte = new Set(['big5', 'euc-jp', 'euc-kr', 'gb18030', 'gbk', 'iso-2022-jp', 'shift_jis'])
const decoders = new Map<string, Promise<Decoder>>()

export const isMultiByte = (encoding: string): boolean => multiByte.has(encoding)

/** Whether an encoding, by its canonical name, has one byte for each character. */
export const isSingleByte = (encoding: string): boolean =>
  !unicode.has(encoding) && !multiByte.has(encoding) && encoding !== 'replacement'

/** Returns the canonical name of an encoding label, undefined if it is unknown. */
export async function encodingName(label: string): Promise<string | undefined> {
  if (/^utf-?8$/i.test(label)) return 'utf-8'
  const { normalizeEncoding } = await import('@exodus/bytes/encoding-lite.js')
  return normalizeEncoding(label) ?? undefined
}

/** Returns the decoder for the canonical name of an encoding. Tables of Asian encodings are loaded on first use. */
export function decoderFor(encoding: string): Promise<Decoder> {
  let decoder = decoders.get(encoding)
  if (!decoder) decoders.set(encoding, (decoder = create(encoding)))
  return decoder
}

/** Decodes the next part of a text; without bytes, its end. */
export type StreamDecoder = (bytes?: Uint8Array) => string

/** Returns a decoder for one text that arrives in parts. */
export async function streamDecoderFor(encoding: string): Promise<StreamDecoder> {
  if (unicode.has(encoding)) {
    const decoder = new TextDecoder(encoding)
    return (bytes) => (bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode())
  }
  if (isMultiByte(encoding)) {
    const { createMultibyteDecoder } = await import('@exodus/bytes/multi-byte.js')
    const decode = createMultibyteDecoder(encoding, true)
    return (bytes) => (bytes ? decode(bytes, true) : decode(new Uint8Array()))
  }
  const { decode } = await decoderFor(encoding)
  return (bytes) => (bytes ? decode(bytes) : '')
}

async function create(encoding: string): Promise<Decoder> {
  if (unicode.has(encoding)) return new TextDecoder(encoding)
  // The standard decodes these as one replacement character, so that scripts in them do not run.
  if (encoding === 'replacement') return { encoding, decode: ({ length }) => (length > 0 ? '\ufffd' : '') }
  if (isSingleByte(encoding)) {
    const { createSinglebyteDecoder } = await import('@exodus/bytes/single-byte.js')
    return { encoding, decode: createSinglebyteDecoder(encoding, true) }
  }
  const { createMultibyteDecoder } = await import('@exodus/bytes/multi-byte.js')
  const decode = createMultibyteDecoder(encoding, true)
  return { encoding, decode: (bytes) => decode(bytes) }
}
