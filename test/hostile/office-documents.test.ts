/** Sixty hostile files: each is read within limits, or rejected with a reason. */
import { describe, expect, test } from 'vitest'
import { readOffice } from '../../src/engine/scrape/documents/office/office.ts'
import { docx, epub, odt, p, pptx, relations, rtf, xlsx, zipOf } from '../support/office-files.ts'

type Outcome = 'read' | 'broken' | 'large' | 'locked' | 'unsupported' | 'any'

const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const good = {
  docx: docx(p('Text')),
  xlsx: xlsx('<row><c><v>1</v></c></row>'),
  pptx: pptx(''),
  odt: odt('<text:p>Text</text:p>'),
  epub: epub(['<p>Text</p>']),
}

/** Changes bytes of the first central directory entry of a file in an archive. */
function patched(bytes: Uint8Array, name: string, offset: number, value: number, size: 2 | 4 = 2): Uint8Array {
  const copy = Buffer.from(bytes)
  const at = copy.lastIndexOf(name) - 46
  if (size === 2) copy.writeUInt16LE(value, at + offset)
  else copy.writeUInt32LE(value, at + offset)
  return copy
}

const nest = (open: string, close: string, times: number, inner = '') =>
  open.repeat(times) + inner + close.repeat(times)
const laughs = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lol">${Array.from({ length: 12 }, (_, at) => `<!ENTITY ${String.fromCharCode(98 + at)} "${`&${String.fromCharCode(97 + at)};`.repeat(10)}">`).join('')}]>`
const external =
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY web SYSTEM "http://169.254.169.254/">]>'
const documentXml = (before: string, body: string) =>
  docx('', { 'word/document.xml': `${before}<w:document><w:body>${body}</w:body></w:document>` })
const zeros = (mb: number) => new Uint8Array(mb * 1024 * 1024)
const bomb = (mb: number) => Buffer.from(zeros(mb)).fill(' ')

const files: Readonly<Record<string, readonly [() => Uint8Array, Outcome]>> = {
  // Not what they claim to be.
  'an empty file': [() => new Uint8Array(), 'broken'],
  'one byte': [() => bytesOf('P'), 'broken'],
  'only the signature of an archive': [() => bytesOf('PK\u0003\u0004'), 'broken'],
  'random bytes after a signature': [() => bytesOf(`PK\u0003\u0004${'\u00fe\u0001'.repeat(5000)}`), 'broken'],
  HTML: [() => bytesOf('<html><body>Hi</body></html>'), 'broken'],
  'a PDF': [() => bytesOf('%PDF-1.7 …'), 'broken'],
  'an archive of other files': [() => zipOf({ 'readme.txt': 'hi' }), 'unsupported'],
  'an empty archive': [() => zipOf({}), 'unsupported'],
  'a file of Office 97': [
    () => bytesOf('\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1 WordDocument'),
    'unsupported',
  ],
  'an encrypted document of Office': [
    () =>
      Buffer.concat([
        bytesOf('\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1'),
        Buffer.from('EncryptedPackage', 'utf16le'),
      ]),
    'locked',
  ],
  'an OpenDocument without content': [() => zipOf({ mimetype: 'application/vnd.oasis.opendocument.text' }), 'broken'],
  'an e-book without container': [() => zipOf({ mimetype: 'application/epub+zip' }), 'broken'],
  'a type without a document': [() => zipOf({ '[Content_Types].xml': 'wordprocessingml' }), 'broken'],
  'a workbook without sheets': [() => xlsx('', { 'xl/workbook.xml': '<workbook/>' }), 'read'],
  'a presentation without slides': [() => pptx('', { 'ppt/presentation.xml': '<p:presentation/>' }), 'read'],
  // Truncated and damaged.
  ...Object.fromEntries(
    Object.entries(good).map(
      ([name, bytes]) => [`a truncated ${name}`, [() => bytes.subarray(0, bytes.length * 0.6), 'broken']] as const,
    ),
  ),
  'a directory that starts behind the end': [
    () => {
      const copy = Buffer.from(good.docx)
      copy.writeUInt32LE(0xfffffff0, copy.length - 6)
      return copy
    },
    'broken',
  ],
  'a directory with more entries than there are': [
    () => {
      const copy = Buffer.from(good.docx)
      copy.writeUInt16LE(9000, copy.length - 12)
      return copy
    },
    'broken',
  ],
  'a directory with 65535 entries': [
    () => {
      const copy = Buffer.from(good.docx)
      copy.writeUInt16LE(65535, copy.length - 12)
      return copy
    },
    'large',
  ],
  'a file that starts behind the end': [() => patched(good.docx, 'word/document.xml', 42, 0xffffff00, 4), 'broken'],
  'a file with a wrong packed size': [() => patched(good.docx, 'word/document.xml', 20, 0x7fffffff, 4), 'broken'],
  'a file with no packed bytes': [() => patched(good.docx, 'word/document.xml', 20, 0, 4), 'any'],
  'a file with an unknown compression': [() => patched(good.docx, 'word/document.xml', 10, 99), 'broken'],
  'an encrypted file in the archive': [() => patched(good.docx, 'word/document.xml', 8, 1), 'locked'],
  'damaged compressed data': [
    () => {
      const copy = Buffer.from(docx(p('x'.repeat(500))))
      const at = copy.indexOf('word/document.xml') + 17
      copy.fill(0xff, at, at + 40)
      return copy
    },
    'broken',
  ],
  // Bombs.
  'a zip bomb as document': [() => docx('', { 'word/document.xml': bomb(200) }), 'large'],
  'a zip bomb in another part': [() => docx(p('Text'), { 'word/styles.xml': bomb(100) }), 'large'],
  'a zip bomb of zeros in a part that is not read': [
    () => docx(p('Text'), { 'word/media/image.png': zeros(200) }),
    'read',
  ],
  'parts that are too large together': [
    () => docx('', { 'word/document.xml': bomb(30), 'word/styles.xml': bomb(30), 'word/numbering.xml': bomb(30) }),
    'large',
  ],
  'chapters that are too large together': [() => epub(['', '', ''].map(() => 'x'.repeat(30 * 1024 * 1024))), 'large'],
  'a bomb that declares a small size': [
    () => patched(docx('', { 'word/document.xml': bomb(100) }), 'word/document.xml', 24, 100, 4),
    'broken',
  ],
  'overlapping files': [() => patched(good.docx, 'docProps/core.xml', 42, 0, 4), 'any'],
  // Path names.
  'names that leave the archive': [
    () => docx(p('Text'), { '../../etc/passwd': 'x', '/abs': 'x', 'C:\\x': 'x' }),
    'read',
  ],
  'a relation that leaves the archive': [
    () => xlsx('', { 'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', '../../../../etc/passwd'] }) }),
    'read',
  ],
  'a relation to a file of the machine': [
    () => xlsx('', { 'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', 'file:///etc/passwd'] }) }),
    'read',
  ],
  'a relation to the web': [
    () =>
      xlsx('', { 'xl/_rels/workbook.xml.rels': relations({ r1: ['worksheet', 'http://127.0.0.1/x', 'External'] }) }),
    'read',
  ],
  'a chapter with an invalid path': [
    () =>
      epub(['<p>Text</p>'], {
        'OEBPS/book.opf':
          '<package><metadata/><manifest><item id="a" href="%zz\u0000%ff"/></manifest><spine><itemref idref="a"/></spine></package>',
      }),
    'broken',
  ],
  'names such as __proto__': [
    () =>
      docx(p('Text', '<w:pStyle w:val="__proto__"/>'), {
        __proto__x: 'x',
        'word/styles.xml':
          '<w:styles __proto__="1" constructor="2"><w:style w:styleId="__proto__"><w:name w:val="constructor"/></w:style></w:styles>',
      }),
    'read',
  ],
  // Entities.
  'a billion laughs': [() => documentXml(laughs, p('&m;')), 'read'],
  'an external entity': [() => documentXml(external, p('&file;&web;')), 'read'],
  'a parameter entity': [
    () => documentXml('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>', p('Text')),
    'read',
  ],
  'an external entity in an OpenDocument': [
    () =>
      odt('', {
        'content.xml': `${external}<d><office:body><office:text><text:p>&file;</text:p></office:text></office:body></d>`,
      }),
    'read',
  ],
  'an external entity in a chapter': [
    () => epub([''], { 'OEBPS/c 0.xhtml': `${external}<html><body>&file;</body></html>` }),
    'read',
  ],
  'numeric references that are no characters': [
    () => documentXml('', p('&#0;&#xD800;&#x110000;&#99999999999;')),
    'read',
  ],
  // Tables and lists.
  'a cell in the last column of many rows': [
    () =>
      xlsx(
        Array.from(
          { length: 200 },
          (_, at) => `<row><c r="A${at + 1}"><v>1</v></c><c r="XFD${at + 1}"><v>1</v></c></row>`,
        ).join(''),
      ),
    'large',
  ],
  'a cell beyond all columns': [() => xlsx('<row><c r="ZZZ1"><v>1</v></c></row>'), 'read'],
  'too many cells': [() => xlsx('<row><c><v>1</v></c><c><v>2</v></c></row>'.repeat(60_000)), 'large'],
  'a row repeated a billion times': [
    () =>
      odt(
        '<table:table><table:table-row><table:table-cell table:number-columns-repeated="1000000000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>',
      ),
    'large',
  ],
  'empty cells repeated a billion times': [
    () =>
      odt(
        '<table:table><table:table-row><table:table-cell table:number-columns-repeated="1000000000"/></table:table-row></table:table>',
      ),
    'read',
  ],
  'a billion spaces': [() => odt('<text:p>a<text:s text:c="1000000000"/>b</text:p>'), 'read'],
  'a cell that spans a billion columns': [
    () => docx(`<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>${p('x')}</w:tc></w:tr></w:tbl>`),
    'read',
  ],
  'a list level of a billion': [
    () => docx(p('x', '<w:numPr><w:ilvl w:val="1000000000"/><w:numId w:val="1"/></w:numPr>').repeat(10)),
    'read',
  ],
  'a date far in the future': [() => xlsx('<row><c s="1"><v>1e300</v></c><c s="1"><v>-1e9</v></c></row>'), 'read'],
  'indexes that do not exist': [
    () => xlsx('<row><c t="s"><v>99999999</v></c><c t="s"><v>-1</v></c><c t="s"><v>NaN</v></c></row>'),
    'read',
  ],
  // Nesting.
  'elements nested 100000 deep': [
    () => docx(nest('<w:sdt><w:sdtContent>', '</w:sdtContent></w:sdt>', 50_000, p('deep'))),
    'large',
  ],
  'tables nested 20000 deep': [
    () => docx(nest('<w:tbl><w:tr><w:tc>', '</w:tc></w:tr></w:tbl>', 20_000, p('deep'))),
    'large',
  ],
  'lists nested 20000 deep': [
    () => odt(nest('<text:list><text:list-item>', '</text:list-item></text:list>', 20_000, '<text:p>deep</text:p>')),
    'large',
  ],
  'elements nested 4000 deep': [
    () => docx(nest('<w:sdt><w:sdtContent>', '</w:sdtContent></w:sdt>', 2000, p('deep'))),
    'read',
  ],
  'groups of shapes nested 50000 deep': [() => pptx(nest('<p:grpSp>', '</p:grpSp>', 50_000)), 'large'],
  'HTML nested 50000 deep in a chapter': [() => epub([nest('<div>', '</div>', 50_000, 'deep')]), 'any'],
  'two million elements': [() => docx('<w:p/>'.repeat(2_000_000)), 'large'],
  'more paragraphs than a page may have': [() => docx(p('x').repeat(260_000)), 'large'],
  'a note that refers to itself': [
    () =>
      docx('<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>', {
        'word/footnotes.xml':
          '<w:footnotes><w:footnote w:id="1"><w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p></w:footnote></w:footnotes>',
      }),
    'read',
  ],
  // E-books.
  'an e-book with DRM': [
    () =>
      epub(['<p>Text</p>'], {
        'META-INF/encryption.xml': '<encryption><CipherReference URI="OEBPS/c%200.xhtml"/></encryption>',
      }),
    'locked',
  ],
  'an encrypted OpenDocument': [
    () => odt('', { 'META-INF/manifest.xml': '<manifest><manifest:encryption-data/></manifest>' }),
    'locked',
  ],
  'a chapter listed 100000 times': [
    () =>
      epub(['<p>Text</p>'], {
        'OEBPS/book.opf': `<package><metadata/><manifest><item id="a" href="c%200.xhtml"/></manifest><spine>${'<itemref idref="a"/>'.repeat(100_000)}</spine></package>`,
      }),
    'read',
  ],
  'a script in a chapter': [
    () => epub(['<script>alert(1)</script><p onclick="x()">Text</p><iframe src="file:///etc/passwd"></iframe>']),
    'read',
  ],
  // RTF.
  'RTF that is truncated': [() => bytesOf(String.raw`{\rtf1 {\b Text`), 'read'],
  'RTF with groups nested 100000 deep': [() => rtf(nest('{', '}', 100_000, 'deep')), 'large'],
  'RTF with too many closing braces': [() => rtf(`Text${'}'.repeat(100_000)}`), 'read'],
  'RTF with binary data beyond its end': [() => rtf(String.raw`Text\bin2147483647 xyz`), 'read'],
  'RTF with negative lengths': [() => rtf(String.raw`Text\bin-5 \uc-5\u-99999999 x\u99999999 y`), 'read'],
  'RTF with an embedded program': [() => rtf(String.raw`{\object\objdata ${'d0cf11e0'.repeat(1000)}}Text`), 'read'],
  'RTF with an unknown code page': [() => rtf(String.raw`\ansicpg99999 caf\'e9`), 'read'],
  'RTF with a million control words': [() => rtf(String.raw`\b\i0`.repeat(500_000)), 'read'],
  'RTF with a link to a script': [
    () => rtf(String.raw`{\field{\*\fldinst HYPERLINK "javascript:alert(1)"}{\fldrslt Text}}`),
    'read',
  ],
}

describe('hostile documents', () => {
  test('are at least sixty', () => expect(Object.keys(files).length).toBeGreaterThanOrEqual(60))

  test.each(Object.entries(files))('%s', async (_, [make, expected]) => {
    const result = await readOffice(make())
    const outcome = 'reason' in result ? result.reason : 'read'
    if (expected !== 'any') expect(outcome, JSON.stringify(result).slice(0, 300)).toBe(expected)
    const text = JSON.stringify(result)
    expect(text.length).toBeLessThan(30_000_000)
    expect(text).not.toMatch(/root:x:0|lollollol|javascript:|alert\(1\)|onclick=/)
  })
})
