import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js'
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js'
import { describe, expect, test } from 'vitest'
import { decodeText } from '../../../src/engine/render/http/charset.ts'
import { decoderFor, encodingName } from '../../../src/engine/render/http/decoder.ts'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'
import { readDocument } from '../../../src/engine/scrape/documents/read.ts'
import { ResponseHeaders } from '../../../src/engine/egress/response-headers.ts'

const encode = (encoding: string, text: string): Buffer =>
  Buffer.from(
    /^(?:windows|koi8|iso-8859)/.test(encoding)
      ? createSinglebyteEncoder(encoding)(text)
      : createMultibyteEncoder(encoding)(text),
  )
const decoded = async (bytes: Uint8Array, type: string | null = null, declares = true) =>
  (await decodeText(bytes, type, { declares })).text

/** Quotation marks and a euro sign in windows-1252. */
const quoted = Buffer.from('<h1>T</h1><p>\u0093hi\u0094 \u0080 5</p>', 'latin1')

describe('legacy encodings', () => {
  test.each([
    ['text/html; charset=windows-1252', ''],
    ['text/html; charset=ISO-8859-1', ''],
    ['text/html; charset=us-ascii', ''],
    [null, '<meta charset="windows-1252">'],
    [null, '<meta http-equiv=content-type content="text/html; charset=latin1">'],
    [null, ''],
  ])('decodes windows-1252 with the header %s and the declaration %s', async (type, meta) => {
    expect(await decoded(Buffer.concat([Buffer.from(meta), quoted]), type)).toContain('“hi” € 5')
  })

  test.each([
    ['a long comment', (text: string) => `<!-- ${'x'.repeat(1500)} --><meta charset="windows-1251"><p>${text}</p>`],
    ['scripts', (text: string) => `<script>${'f();'.repeat(600)}</script><meta charset="windows-1251"><p>${text}</p>`],
    ['nothing', (text: string) => `<?xml version="1.0" encoding="windows-1251"?><rss><title>${text}</title></rss>`],
  ])('reads the declaration after %s', async (_, page) => {
    const text = page('Ёж')
    expect(await decodeText(encode('windows-1251', text), null, { declares: true })).toEqual({
      text,
      charset: 'windows-1251',
    })
  })

  test('decodes the whole of windows-1252', async () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) => 0x80 + at)
    expect((await decoderFor('windows-1252')).decode(bytes)).toBe(
      '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ',
    )
  })

  // Bytes that TextDecoder of Node 20 decodes differently, with the characters of the standard's index tables.
  test.each([
    ['iso-8859-16', [0xa4], '€'],
    ['koi8-u', [0xae, 0xbe], 'ўЎ'],
    ['windows-874', [0xdb], '\ufffd'],
    ['windows-1253', [0xaa], '\ufffd'],
    ['windows-1255', [0xca], '\u05ba'],
    ['shift_jis', [0x82, 0x40], '\ufffd@'],
    ['euc-jp', [0x8f, 0xf3, 0xa1], '\ufffd'],
    ['euc-kr', [0x81, 0x41], '갂'],
    ['big5', [0x87, 0x40], '䏰'],
    ['gbk', [0xa2, 0xe3], '€'],
    ['x-user-defined', [0x80], '\uf780'],
    ['replacement', [0x41, 0x42], '\ufffd'],
  ])('decodes %s as the standard does', async (encoding, bytes, text) => {
    expect((await decoderFor(encoding)).decode(Uint8Array.from(bytes))).toBe(text)
  })

  test.each([
    ['Latin1', 'windows-1252'],
    ['sjis', 'shift_jis'],
    ['x-user-defined', 'x-user-defined'],
    ['l9', 'iso-8859-15'],
    ['iso-2022-kr', 'replacement'],
    ['UTF8', 'utf-8'],
    ['klingon', undefined],
  ])('the label %s is %s', async (label, name) => {
    expect(await encodingName(label)).toBe(name)
  })

  test.each([
    ['windows-1251', 'Привет, мир. Это страница.'],
    ['koi8-r', 'Сегодня в Москве прошло заседание правительства'],
    ['shift_jis', '日本語のページです。こんにちは。'],
    ['euc-jp', '日本語のページです。こんにちは。'],
    ['gbk', '这是一个中文网页。你好，世界。'],
    ['big5', '這是一個中文網頁。你好，世界。'],
    ['euc-kr', '안녕하세요. 이것은 한국어 페이지입니다.'],
    ['windows-1252', 'It’s a “quoted” text – with 5 € and more.'],
    ['windows-1252', 'Les élèves français étaient très fatigués après l’été'],
    ['windows-1252', 'El niño comió piñas en España, ¿verdad?'],
    ['windows-1252', 'Größe und Öl für die nächste Übung'],
    ['windows-1252', 'Perché è così? La società è già più di una città'],
    ['windows-1252', 'Non è vero che è tardi, è solo che è buio ed è freddo. È così.'],
    ['windows-1252', 'A informação não está disponível em São Paulo'],
    ['windows-1252', 'Året er gået, og bøgerne står på hylden'],
    ['windows-1250', 'Więcej informacji można znaleźć na stronie głównej'],
    ['windows-1250', 'Příliš žluťoučký kůň úpěl ďábelské ódy'],
    ['windows-1250', 'Árvíztűrő tükörfúrógép, őszi sütőtök'],
    ['iso-8859-2', 'Więcej śniegu można znaleźć w górach, gdzie ślady giną'],
    ['windows-1254', 'İstanbul güzel bir şehir, ışıklar yağmurda parlıyor'],
    ['windows-1257', 'Daugiau informacijos rasite mūsų svetainėje apie žmones ir šalį'],
    ['iso-8859-7', 'Σήμερα στην Αθήνα πραγματοποιήθηκε συνεδρίαση της κυβέρνησης'],
    ['windows-1255', 'היום התקיימה בירושלים ישיבת הממשלה שבה נדון התקציב'],
    ['windows-1256', 'عقد اليوم في القاهرة اجتماع للحكومة تمت خلاله مناقشة الميزانية'],
    ['iso-8859-5', 'Сегодня в Москве прошло заседание правительства'],
    ['koi8-u', 'Сьогодні в Києві відбулося засідання уряду та її гостей'],
  ])('recognizes undeclared %s: %s', async (encoding, text) => {
    const page = Buffer.concat([Buffer.from('<title>Page</title><p>'), encode(encoding, text), Buffer.from('</p>')])
    expect(await decodeText(page, 'text/html', { declares: true })).toMatchObject({
      charset: encoding,
      text: expect.stringContaining(text),
    })
    expect(await decoded(encode(encoding, text), 'text/csv', false)).toBe(text)
  })
})

describe('Unicode', () => {
  test.each([
    ['text/html; charset=ISO-8859-1', ''],
    [null, '<meta charset="windows-1251">'],
    [null, '<meta charset="Shift_JIS">'],
  ])('valid UTF-8 is UTF-8 although %s %s says otherwise', async (type, meta) => {
    expect(await decodeText(Buffer.from(`${meta}<p>“été” €`), type, { declares: true })).toEqual({
      text: `${meta}<p>“été” €`,
      charset: 'utf-8',
    })
  })

  test.each(['\ufeff', ''])('reads UTF-16 with the mark %j', async (mark) => {
    const little = Buffer.from(`${mark}<p>Größe 日本</p>`, 'utf16le')
    expect(await decoded(little)).toBe('<p>Größe 日本</p>')
    expect(await decoded(Buffer.from(little).swap16())).toBe('<p>Größe 日本</p>')
  })
})

describe('files', () => {
  test.each([
    ['utf-8', '/s?q=%E6%97%A5'],
    ['Shift_JIS', '/s?q=%93%FA'],
    ['EUC-JP', '/s?q=%C6%FC'],
  ])('that are UTF-8 now keep the links of %s', async (charset, link) => {
    const page = Buffer.from(`<meta charset="${charset}"><h1>日</h1><p><a href="/s?q=日">日</a></p>`)
    const { markdown } = await extractMarkdown(page, { url: 'http://a.test/', onlyMain: false, headline: false })
    expect(markdown).toBe(`# 日\n\n[日](http://a.test${link})\n`)
  })

  test('extracts windows-1252', async () => {
    const { markdown } = await extractMarkdown(quoted, { onlyMain: false, headline: false })
    expect(markdown).toContain('“hi” € 5')
  })

  test.each([
    ['\\ansicpg1252', '\u0093hi\u0094 \u0080', '“hi” €'],
    ['\\ansicpg1252', "\\'93hi\\'94 \\'80", '“hi” €'],
    ['\\ansicpg1251', "\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2", 'Привет'],
    ['\\ansicpg932', "\\'93\\'fa\\'96\\'7b", '日本'],
    ['\\ansicpg99999', "\\'93hi\\'94", '“hi”'],
    ['\\mac', "\\'d2hi\\'d3", '“hi”'],
  ])('extracts RTF with %s and %s', async (page, text, expected) => {
    const rtf = Buffer.from(`{\\rtf1\\ansi${page} ${text}\\par}`, 'latin1')
    expect((await extractMarkdown(rtf, { onlyMain: false, headline: false })).markdown).toContain(expected)
  })

  const fonts = String.raw`{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset204{\*\panose 02}Arial Cyr;}{\f2\fcharset128 MS \{\} Gothic;}{\f3\fcharset161 G;}{\f4\cpg1250 C;}}`
  test.each([
    ['\\f1', "\\'cf\\'f0\\'e8\\'e2\\'e5\\'f2", 'Привет'],
    ['\\f2', "\\'93\\'fa\\'96\\'7b", '日本'],
    ['\\f2', "\\'83A\\'83\\'43", 'アイ'],
    ['\\f3', "\\'c1\\'e2", 'Αβ'],
    ['\\f4', "\\'b9\\'ea", 'ąę'],
    ['\\f0', "\\'93hi\\'94", '“hi”'],
    ['{\\f1 x}', "\\'e9t\\'e9", 'été'],
    ['\\f1\\plain', "\\'e9t\\'e9", 'été'],
    ['\\f9', "\\'e9t\\'e9", 'été'],
    ['\\f1\\uc1', "\\u1071\\'df\\'df", 'ЯЯ'],
  ])('reads RTF in the font %s: %s', async (font, text, expected) => {
    const rtf = Buffer.from(`{\\rtf1\\ansi\\ansicpg1252\\deff0${fonts}\\pard ${font} ${text}\\par}`, 'latin1')
    expect((await extractMarkdown(rtf, { onlyMain: false, headline: false })).markdown).toContain(expected)
  })

  test('reads RTF in its default font', async () => {
    const rtf = Buffer.from(`{\\rtf1\\ansi\\deff1${fonts}\\pard \\'ff\\par}`, 'latin1')
    expect((await extractMarkdown(rtf, { onlyMain: false, headline: false })).markdown).toContain('я')
  })

  test('reads CSV in windows-1252', async () => {
    const bytes = Buffer.from('name,price\n\u0093hi\u0094,\u0080 5\n', 'latin1')
    const page = {
      url: 'https://a.test/x.csv',
      status: 200,
      headers: new ResponseHeaders([['content-type', 'text/csv']]),
      redirects: [],
      bytes,
    }
    const { document } = await readDocument(page, { signal: new AbortController().signal })
    expect(document).toMatchObject({ charset: 'windows-1252', raw: 'name,price\n“hi”,€ 5\n' })
  })
})
