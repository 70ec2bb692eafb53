/** Detects the encoding of undeclared text by its letters, as browsers do. */

/** Number of bytes to examine. */
const examined = 65_536

/** Names of decoders by those of the detector. */
const asian: ReadonlyMap<string, string> = new Map([['Shift_JIS', 'shift_jis'], ['EUC-JP', 'euc-jp'], ['GB18030', 'gbk'], ['Big5', 'big5'], ['EUC-KR', 'euc-kr']]) // prettier-ignore
const cyrillic: ReadonlyMap<string, string> = new Map([['windows-1251', 'windows-1251'], ['KOI8-R', 'koi8-r']]) // prettier-ignore

/** Returns the encoding of text that is not UTF-8: windows-1252 unless its letters are clearly others. */
export async function detectCharset(bytes: Uint8Array): Promise<string> {
  const { default: chardet } = await import('chardet')
  const best = (sample: Uint8Array, isAsian: boolean): string | undefined => {
    const match = chardet.analyse(sample).find(({ name }) => !isAsian || asian.has(name))
    if (!match || match.confidence < (asian.has(match.name) ? 60 : 30)) return undefined
    return (isAsian ? asian : cyrillic).get(match.name)
  }
  const sample = bytes.subarray(0, examined)
  // In Asian encodings the second byte of a character may be a letter of ASCII, so they are detected in all text.
  return best(sample, true) ?? best(wordsOf(sample), false) ?? 'windows-1252'
}

/** Returns the words with letters outside ASCII: markup and English text say nothing about the encoding. */
function wordsOf(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return Buffer.from((text.match(/[a-z\u0080-\u00ff]+/gi) ?? []).filter((word) => /[\u0080-\u00ff]/.test(word)).join(' '), 'latin1') // prettier-ignore
}
