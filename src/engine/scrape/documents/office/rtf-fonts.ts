/** The encodings of RTF: that of the document, and those of its fonts. */
import { type Decoder, decoderFor, encodingName } from '../../../render/http/decoder.ts'

export interface Fonts {
  /** Returns the decoder of text in a font; without a number, in the default font. */
  decoderOf(font: number | undefined): Decoder
}

/** Windows code pages by the numbers of character sets. The others have the encoding of the document. */
const pages: Readonly<Record<string, number>> = {
  77: 10_000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
}

/** Encodings by their code pages, except those that are named after their page. */
const names: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10_000: 'macintosh',
  10_007: 'x-mac-cyrillic',
  20_866: 'koi8-r',
  28_592: 'iso-8859-2',
  65_001: 'utf-8',
}

export async function fontsOf(text: string): Promise<Fonts> {
  const page = /\\(?:ansicpg(\d{1,5})|mac\b)/.exec(text)
  const main = (await decoderOfPage(page ? Number(page[1] ?? 10_000) : 1252)) ?? (await decoderFor('windows-1252'))
  const byFont = new Map<number, Decoder>()
  let font = 0
  for (const [, number, charset, own] of fontTable(text).matchAll(
    /\\(?:f(\d{1,5})|fcharset(\d{1,5})|cpg(\d{1,5}))(?!\d)/g,
  )) {
    if (number !== undefined) font = Number(number)
    const decoder = await decoderOfPage(own === undefined ? pages[charset ?? ''] : Number(own))
    if (decoder) byFont.set(font, decoder)
  }
  const first = Number(/\\deff(\d{1,5})/.exec(text)?.[1] ?? Number.NaN)
  return { decoderOf: (number = first) => byFont.get(number) ?? main }
}

async function decoderOfPage(page: number | undefined): Promise<Decoder | undefined> {
  const name = page === undefined ? undefined : await encodingName(names[page] ?? `windows-${page}`)
  return name === undefined ? undefined : decoderFor(name)
}

/** Returns the group of the fonts. */
function fontTable(text: string): string {
  const start = text.indexOf('{\\fonttbl')
  if (start < 0) return ''
  let level = 0
  for (const { 0: brace, index } of text.slice(start).matchAll(/\\[{}\\]|[{}]/g)) {
    if (brace === '{') level++
    else if (brace === '}' && --level === 0) return text.slice(start, start + index)
  }
  return ''
}
