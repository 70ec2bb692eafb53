/** PDFs as Markdown: reading order, words, and structure. */
import { describe, expect, test } from 'vitest'
import { pdfDocument } from '../../../src/engine/scrape/documents/pdf.ts'
import { contentOf } from '../../../src/engine/scrape/content/content.ts'
import { at, below, pageObject, pdf, stroke } from '../../support/pdf-files.ts'

async function read(bytes: Uint8Array) {
  const document = await pdfDocument(bytes, 'https://example.com/file.pdf', { signal: new AbortController().signal })
  const { markdown } = await contentOf(document, { onlyMain: true, inlineImages: false, headline: true })
  return { ...document, markdown: markdown.trim() }
}

const markdownOf = async (bytes: Uint8Array) => (await read(bytes)).markdown

const left = [
  'The harbour was dredged in',
  'spring, and the first ship',
  'came in at midsummer with',
  'timber from the north.',
]
const right = [
  'By autumn the quay was too',
  'short, so the town council',
  'voted for a second basin,',
  'which opened a year later.',
]

describe('the reading order', () => {
  test('is column by column when columns are drawn row by row', async () => {
    const rows = left.map((line, index) => at(60, 700 - index * 14, line) + at(330, 700 - index * 14, right[index]!))
    const bytes = pdf([at(60, 740, 'A history of the harbour', { size: 18 }) + rows.join('')])
    expect(await markdownOf(bytes)).toBe(`# A history of the harbour\n\n${left.join(' ')}\n\n${right.join(' ')}`)
  })

  test('is column by column when their lines are not level, and one ends early', async () => {
    const more = [...left, ...left, ...left]
    const bytes = pdf([below(330, 694, right) + below(60, 700, more)])
    expect(await markdownOf(bytes)).toBe([left, left, left, right].map((lines) => lines.join(' ')).join('\n\n'))
  })

  test('is from left to right for three columns', async () => {
    const rows = left.map((line, index) => [50, 225, 400].map((x) => at(x, 700 - index * 14, line)).join(''))
    expect(await markdownOf(pdf([rows.join('')]))).toBe([left, left, left].map((lines) => lines.join(' ')).join('\n\n'))
  })

  test('continues a paragraph in the next column, before the footnote', async () => {
    const start = ['The harbour was dredged in', 'spring, and the first ship', 'came in at midsummer, a']
    const end = ['long time ago, with timber', 'from the north, and salt', 'from the islands in the west.']
    const note = at(60, 640, '1 The chronicle says so.', { size: 8 })
    expect(await markdownOf(pdf([below(60, 700, start) + note + below(330, 700, end)]))).toBe(
      `${[...start, ...end].join(' ')}\n\n1 The chronicle says so.`,
    )
  })

  test('is from top to bottom when lines are drawn from the bottom', async () => {
    const lines = left.map((line, index) => at(60, 700 - index * 14, line)).toReversed()
    expect(await markdownOf(pdf([lines.join('')]))).toBe(left.join(' '))
  })

  test('follows rotated pages and rotated text', async () => {
    const turned = left.map((line, index) => `BT /F1 11 Tf 0 1 -1 0 ${200 + index * 14} 100 Tm (${line}) Tj ET\n`)
    expect(await markdownOf(pdf([turned.join('')]))).toBe(left.join(' '))
    expect(await markdownOf(pdf([{ content: turned.join(''), entries: '/Rotate 90' }]))).toBe(left.join(' '))
    expect(await markdownOf(pdf([{ content: below(60, 700, left), entries: '/Rotate 180' }]))).toBe(left.join(' '))
  })
})

/** Returns the operators that show rows of cells. */
const rowsAt = (y: number, xs: readonly number[], rows: readonly (readonly string[])[]): string =>
  rows.flatMap((row, line) => row.map((text, column) => at(xs[column]!, y - line * 14, text))).join('')

describe('the order of few lines side by side', () => {
  const two = [60, 330]
  const three = [60, 230, 400]

  test('is one column after the other when their lines continue', async () => {
    const rows = [
      ['The harbour was dredged in', 'By autumn the quay was too'],
      ['spring after the flood.', 'short for the large ships.'],
    ]
    const paragraphs =
      'The harbour was dredged in spring after the flood.\n\nBy autumn the quay was too short for the large ships.'
    expect(await markdownOf(pdf([rowsAt(700, two, rows)]))).toBe(paragraphs)
    const more = `${rowsAt(700, two, rows)}${at(60, 640, 'Below them, a line goes over the whole page, from the left margin to the right.')}`
    expect(await markdownOf(pdf([more]))).toMatch(paragraphs)
  })

  test('is one address after the other', async () => {
    const rows = [
      ['Ann Miller', 'Petra Schmidt', 'Harbour Trading'],
      ['12 Mill Lane', 'Am Kai 3a', '99 Quay Road'],
      ['York YO1 2AB', '20457 Hamburg', 'Boston MA 02110'],
    ]
    const words = (await markdownOf(pdf([rowsAt(700, three, rows)]))).split(/[\s\\]+/)
    expect(words.join(' ')).toBe(
      'Ann Miller 12 Mill Lane York YO1 2AB Petra Schmidt Am Kai 3a 20457 Hamburg Harbour Trading 99 Quay Road Boston MA 02110',
    )
  })

  test('is one card after the other, row by row', async () => {
    const upper = [
      ['Fast', 'Small'],
      ['Pages load in two', 'Needs four megabytes of'],
      ['milliseconds.', 'memory.'],
    ]
    const lower = [
      ['Safe', 'Open'],
      ['Nothing leaves your own', 'The source is free for'],
      ['machine.', 'everybody.'],
    ]
    const markdown = await markdownOf(pdf([rowsAt(700, two, upper) + rowsAt(620, two, lower)]))
    const words =
      'Fast Pages load in two milliseconds. Small Needs four megabytes of memory. Safe Nothing leaves your own machine. Open The source is free for everybody.'
    expect(markdown.split(/\s+/).join(' ')).toBe(words)
  })

  test('is row by row in forms and tables', async () => {
    const form = [
      ['Name of applicant', 'The Society of Friends'],
      ['Date of birth here', 'unknown to the office'],
      ['Place of residence', 'somewhere in the north'],
    ]
    expect(await markdownOf(pdf([rowsAt(700, [60, 220], form)]))).toMatch(
      /^\| Name of applicant \| The Society of Friends \|\n/,
    )
    const short = [
      ['Invoice no.', '2024-17'],
      ['Date', '3 May 2024'],
    ]
    expect(await markdownOf(pdf([rowsAt(700, [60, 220], short)]))).toMatch(/Invoice no. 2024-17\\?\s+Date 3 May 2024/)
    const people = [
      ['Name', 'Street', 'Town'],
      ['Ann Miller', '12 Mill Lane', 'York YO1 2AB'],
      ['Bob Smith', '4 High Street', 'Leeds LS1 4BB'],
    ]
    expect(await markdownOf(pdf([rowsAt(700, three, people)]))).toMatch(
      /\| Bob Smith \| 4 High Street \| Leeds LS1 4BB \|$/,
    )
    const options = [
      ['Option', 'Meaning'],
      ['verbose', 'Prints every step that it takes.'],
      ['quiet', 'Prints nothing at all but errors.'],
    ]
    expect(await markdownOf(pdf([rowsAt(700, two, options)]))).toMatch(
      /\| quiet \| Prints nothing at all but errors. \|$/,
    )
  })

  test('is row by row between drawn lines', async () => {
    const cells = [
      ['Clears the cache that is', 'Deletes the files that are'],
      ['kept for a week.', 'older than a year.'],
    ]
    const lines = stroke(50, 716, 560, 716) + stroke(50, 680, 560, 680)
    expect(await markdownOf(pdf([rowsAt(700, two, cells) + lines]))).toMatch(/Clears the cache that is \|? ?Deletes/)
  })
})

describe('words', () => {
  test('are separated by position, and not by kerning', async () => {
    const bytes = pdf(['BT /F1 11 Tf 60 620 Td [(Wo) -20 (rd) -700 (gap) 30 (ped)] TJ ET'])
    expect(await markdownOf(bytes)).toBe('Word gapped')
  })

  test('drawn one by one in any order are sorted', async () => {
    const bytes = pdf([at(150, 700, 'three') + at(60, 700, 'one') + at(100, 700, 'two')])
    expect(await markdownOf(bytes)).toBe('one two three')
  })

  test('keep their letters together when these are spaced', async () => {
    const spaced = at(60, 700, 'ANNUAL REPORT', { before: '6 Tc' })
    const single = [...'HARBOUR'].map((letter, index) => at(60 + index * 14, 660, letter)).join('')
    expect(await markdownOf(pdf([spaced + single]))).toBe('ANNUAL REPORT\n\nHARBOUR')
  })

  test('broken at the end of a line are joined, and compounds keep their hyphen', async () => {
    const lines = [
      'The state-of-the-art machin-',
      'ery of the well-known Anglo-',
      'Saxon quay is a well-',
      'known example of its kind.',
    ]
    expect(await markdownOf(pdf([below(60, 700, lines)]))).toBe(
      'The state-of-the-art machinery of the well-known Anglo-Saxon quay is a well-known example of its kind.',
    )
  })

  test('have letters in place of ligatures, and no soft hyphens', async () => {
    const bytes = pdf([at(60, 700, 'ABrst oCce', { font: 'F4' })], { glyphs: '/fi /uni00AD /ffi' })
    expect(await markdownOf(bytes)).toBe('first office')
  })

  test('written from right to left are in their order', async () => {
    const glyphs = '/uni05DD /uni05D5 /uni05DC /uni05E9'
    const bytes = pdf([at(300, 700, 'ABCD 12 ABCD', { font: 'F4' })], { glyphs })
    expect(await markdownOf(bytes)).toBe('שלום 12 שלום')
  })

  test('have raised and lowered characters', async () => {
    const bytes = pdf([
      at(60, 700, 'area in m') +
        at(107, 704, '2', { size: 7 }) +
        at(60, 660, 'H') +
        at(68, 657, '2', { size: 7 }) +
        at(72, 660, 'O'),
    ])
    expect(await markdownOf(bytes)).toBe('area in m<sup>2</sup>\n\nH<sub>2</sub>O')
  })

  test('with raised letters of a logo, and lowered ones, are whole', async () => {
    // TeX draws its name so: the A is at the right of the L, and nearly touches the lowered E.
    const logo =
      at(107, 700, 'L') +
      at(109.6, 701.81, 'A', { size: 7.27 }) +
      at(113.4, 700, 'T') +
      at(117, 697.76, 'E') +
      at(122.6, 700, 'X')
    const bytes = pdf([at(60, 700, 'papers in') + logo + at(134, 700, 'are many')])
    expect(await markdownOf(bytes)).toBe('papers in L<sup>A</sup>TEX are many')
  })

  test('drawn twice for boldness appear once', async () => {
    expect(await markdownOf(pdf([at(60, 700, 'Once only') + at(60.3, 700, 'Once only')]))).toBe('Once only')
  })
})

describe('text', () => {
  test('is escaped where Markdown would give it a meaning', async () => {
    const lines = ['# Not a heading * 5 _x_', '1. first <b>tag</b> & amp', '- dash and [link](x)', 'a | b']
    expect(await markdownOf(pdf([below(60, 740, lines, {}, 30)]))).toBe(
      '\\# Not a heading * 5 \\_x\\_\n\n1\\. first \\<b>tag\\</b> & amp\n\n\\- dash and [link\\](x)\n\na | b',
    )
  })

  test('of other layers that are hidden is left out', async () => {
    const bytes = pdf(
      [
        {
          content: `${at(60, 700, 'Shown')}/OC /Off BDC ${at(60, 600, 'Hidden')} EMC`,
          entries:
            '/Resources<</Properties<</Off 10 0 R>>/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>',
        },
      ],
      { catalog: '/OCProperties<</OCGs[10 0 R]/D<</OFF[10 0 R]>>>>', objects: ['<</Type/OCG/Name(Off)>>'] },
    )
    expect(await markdownOf(bytes)).toBe('Shown')
  })
})

describe('structure', () => {
  test('has headings by size, and by boldness with a number', async () => {
    const bytes = pdf([
      at(60, 740, 'Harbours', { size: 24 }) +
        at(60, 700, '1 History', { size: 14, font: 'F2' }) +
        below(60, 680, left) +
        at(60, 610, '1.1 Storms', { font: 'F2' }) +
        below(60, 590, right),
    ])
    expect(await markdownOf(bytes)).toBe(
      `# Harbours\n\n## 1 History\n\n${left.join(' ')}\n\n### 1.1 Storms\n\n${right.join(' ')}`,
    )
  })

  test('has no headings of text above longer notes', async () => {
    const notes = Array.from({ length: 12 }, () => 'The chronicle of the town says so, and more.')
    expect(
      await markdownOf(pdf([below(60, 700, [...left, ...right, ...left]) + below(60, 400, notes, { size: 8 }, 10)])),
    ).not.toContain('#')
  })

  test('separates paragraphs by gaps, indents and short last lines', async () => {
    const gap = below(60, 700, left) + below(60, 630, right)
    expect(await markdownOf(pdf([gap]))).toBe(`${left.join(' ')}\n\n${right.join(' ')}`)
    const indent = below(60, 700, left) + at(75, 644, 'When autumn came, the quay') + below(60, 630, right.slice(1))
    expect(await markdownOf(pdf([indent]))).toBe(
      `${left.join(' ')}\n\nWhen autumn came, the quay ${right.slice(1).join(' ')}`,
    )
  })

  test('has lists, with items of several lines and inner items', async () => {
    const bullets =
      at(60, 700, '\u0095 dredged in spring') +
      at(80, 686, '\u0095 and once more') +
      at(60, 672, '\u0095 closed in winter, when the') +
      at(68, 658, 'ice came')
    const numbers = below(60, 620, ['3. Enter', '4. Moor', '5. Leave'])
    expect(await markdownOf(pdf([bullets + numbers]))).toBe(
      '- dredged in spring\n  - and once more\n- closed in winter, when the ice came\n\n3. Enter\n4. Moor\n5. Leave',
    )
  })

  test('continues a list on the next page', async () => {
    const bytes = pdf([at(60, 700, '1. Enter the harbour'), below(60, 700, ['2. Moor at the quay', '3. Leave'])])
    expect(await markdownOf(bytes)).toBe('1. Enter the harbour\n\n---\n\n2. Moor at the quay\n3. Leave')
  })

  test('keeps the lines of an address', async () => {
    const lines = ['Ann Example', '12 Quay Road', 'Bristol BS1 4XJ']
    expect(await markdownOf(pdf([below(60, 700, lines)]))).toMatch(
      /^Ann Example(?: {2}|\\)\n12 Quay Road(?: {2}|\\)\nBristol BS1 4XJ$/,
    )
  })
})

describe('tables', () => {
  const rows = [
    ['Port', 'Ships', 'Depth'],
    ['Hamburg', '8012', '16'],
    ['Gdansk', '3801', '17'],
  ]
  const texts = (y = 700) =>
    rows.flatMap((row, line) => row.map((text, column) => at(64 + column * 100, y - line * 20, text))).join('')
  const table = '| Port | Ships | Depth |\n| --- | --- | --- |\n| Hamburg | 8012 | 16 |\n| Gdansk | 3801 | 17 |'

  test('are in drawn lines', async () => {
    const lines = [0, 1, 2, 3].map((row) => stroke(60, 714 - row * 20, 360, 714 - row * 20)).join('')
    const sides = [0, 1, 2, 3].map((column) => stroke(60 + column * 100, 714, 60 + column * 100, 654)).join('')
    expect(await markdownOf(pdf([at(60, 750, 'Before') + texts() + lines + sides + at(60, 600, 'After')]))).toBe(
      `Before\n\n${table}\n\nAfter`,
    )
  })

  test('have cells of several lines, and cells that span columns', async () => {
    const lines = [714, 694, 654].map((y) => stroke(60, y, 360, y)).join('')
    const sides = stroke(60, 714, 60, 654) + stroke(360, 714, 360, 654) + stroke(200, 694, 200, 654)
    const bytes = pdf([
      lines +
        sides +
        at(64, 700, 'Ports of the coast') +
        below(64, 680, ['Hamburg on', 'the Elbe']) +
        at(204, 680, '8012'),
    ])
    const markdown = await markdownOf(bytes)
    expect(markdown).toContain('| Hamburg on the Elbe | 8012 |')
    expect(markdown.match(/Ports of the coast/g)).toHaveLength(1)
  })

  test('are aligned columns of short texts', async () => {
    expect(await markdownOf(pdf([texts()]))).toBe(table)
  })

  test('are not the columns of an article', async () => {
    const rowsOfText = left.map(
      (line, index) => at(60, 700 - index * 14, line) + at(330, 700 - index * 14, right[index]!),
    )
    expect(await markdownOf(pdf([rowsOfText.join('')]))).not.toContain('|')
  })
})

describe('what repeats on pages', () => {
  const page = (number: number, content: string) =>
    at(60, 770, number % 2 ? 'The book of harbours' : 'Storms') +
    at(500, 770, String(number)) +
    at(60, 700, content) +
    at(280, 30, `Page ${number} of 6`)

  test('is removed at the top and bottom, with the numbers of pages', async () => {
    const texts = ['one', 'two', 'three', 'four', 'five', 'six'].map(
      (word) => `Storms are in the book of harbours ${word}.`,
    )
    const bytes = pdf(texts.map((text, index) => page(index + 1, text)))
    expect(await markdownOf(bytes)).toBe(texts.join('\n\n---\n\n'))
  })

  test('is kept once if the text does not have its words', async () => {
    const texts = ['one', 'two', 'three'].map((word) => `This is the text of page ${word}.`)
    const bytes = pdf(
      texts.map((text, index) => page(1, text) + at(60, 18, `Not for sale in the United States ${index + 1}`)),
    )
    expect(await markdownOf(bytes)).toMatch(
      /^The book of harbours 1\n\n(?:.*\n)*?.*Not for sale in the United States 1\n\n---\n\n[^]*page two\.\n\n---\n\n[^]*page three\.$/,
    )
    expect((await markdownOf(bytes)).match(/Not for sale/g)).toHaveLength(1)
  })

  test('is kept once as the head of a table that continues', async () => {
    const head = at(60, 720, 'Port') + at(160, 720, 'Ships')
    const row = (name: string, count: number) => at(60, 700, name) + at(160, 700, String(count))
    const markdown = await markdownOf(pdf([head + row('Bremen', 7), head + row('Hull', 31), head + row('Riga', 12)]))
    expect(markdown.match(/Ships/g)).toHaveLength(1)
    expect(markdown).toMatch(/Bremen.*7[^]*Hull.*31[^]*Riga.*12/)
  })

  test('is kept in the middle, and where it is on few pages or has other numbers', async () => {
    const texts = ['A', 'B', 'C', 'D', 'E', 'F'].map(
      (word, index) =>
        at(60, 770, `Total ${index * index + 7}`) +
        at(60, 400, 'In the middle') +
        (index < 2 ? at(60, 30, 'Twice') : '') +
        at(60, 600, `Text ${word}`),
    )
    const markdown = await markdownOf(pdf(texts))
    expect(markdown.match(/Total \d+/g)).toEqual(['Total 7', 'Total 8', 'Total 11', 'Total 16', 'Total 23', 'Total 32'])
    expect(markdown.match(/In the middle/g)).toHaveLength(6)
    expect(markdown.match(/Twice/g)).toHaveLength(2)
  })
})

describe('annotations', () => {
  test('of web links are links', async () => {
    const entries = '/Annots[<</Type/Annot/Subtype/Link/Rect[82 695 126 712]/A<</S/URI/URI(https://example.com/a)>>>>]'
    const bytes = pdf([{ content: at(60, 700, 'See the page of ports.'), entries }])
    expect(await markdownOf(bytes)).toBe('See [the page](https://example.com/a) of ports.')
  })

  test('of form fields have their values, drawn or not', async () => {
    const entries = '/Annots[10 0 R]'
    const bytes = pdf([{ content: at(60, 700, 'Name:'), entries }], {
      catalog: '/AcroForm<</Fields[10 0 R]>>',
      objects: ['<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Ann Example)/Rect[100 696 300 712]/P 100 0 R>>'],
    })
    expect(await markdownOf(bytes)).toBe('Name: Ann Example')
  })

  test('of form fields have what a person sees: no passwords, no codes of choices, none off the page', async () => {
    const field = (facts: string, y: number) =>
      `<</Type/Annot/Subtype/Widget/P 100 0 R/Rect[100 ${y - 4} 300 ${y + 12}]${facts}>>`
    const objects = [
      field('/FT/Ch/T(size)/Ff 131072/V(xl)/Opt[[(s)(Small)][(xl)(Extra large)]]', 700),
      field('/FT/Ch/T(days)/V[(1)(3)]/Opt[[(1)(Monday)][(3)(Wednesday)]]', 650),
      field('/FT/Tx/T(secret)/Ff 8192/V(hunter2)', 600),
      field('/FT/Tx/T(far)/V(outside)', -300),
      field('/FT/Tx/T(hidden)/F 2/V(unseen)', 550),
    ]
    const references = objects.map((_, index) => `${10 + index} 0 R`).join(' ')
    const bytes = pdf([{ content: at(60, 700, 'Size:'), entries: `/Annots[${references}]` }], {
      catalog: `/AcroForm<</Fields[${references}]>>`,
      objects,
    })
    expect(await markdownOf(bytes)).toBe('Size: Extra large\n\nMonday, Wednesday')
  })
})

describe('a tagged PDF', () => {
  const tagged = (content: string, kids: string, objects: readonly string[]) =>
    pdf([{ content, entries: '/StructParents 0' }], {
      catalog: '/MarkInfo<</Marked true>>/StructTreeRoot 10 0 R',
      objects: [
        `<</Type/StructTreeRoot/K[${kids}]/ParentTree<</Nums[0[${objects.map((_, index) => `${11 + index} 0 R`).join(' ')}]]>>>>`,
        ...objects,
      ],
    })
  const marked = (id: number, content: string) => `/Span<</MCID ${id}>>BDC ${content} EMC\n`
  const node = (role: string, id: number) => `<</Type/StructElem/S/${role}/P 10 0 R/Pg ${pageObject(0)} 0 R/K ${id}>>`

  test('is read in the order and with the roles that it declares', async () => {
    const content =
      marked(0, below(60, 700, ['The second paragraph.'])) +
      marked(1, at(60, 640, 'A heading')) +
      marked(2, at(60, 600, 'The first paragraph.'))
    const bytes = tagged(content, '12 0 R 13 0 R 11 0 R', [node('P', 0), node('H2', 1), node('P', 2)])
    expect(await markdownOf(bytes)).toBe('## A heading\n\nThe first paragraph.\n\nThe second paragraph.')
  })

  test('is read by its layout when most text is not in its structure', async () => {
    const content = marked(0, at(60, 600, 'Tagged.')) + below(60, 700, left)
    expect(await markdownOf(tagged(content, '11 0 R', [node('H1', 0)]))).toBe(`${left.join(' ')}\n\nTagged.`)
  })
})

/** Returns a PDF with codes of a font that is not embedded and has a predefined CMap. */
function cjkPdf(ordering: string, encoding: string, codes: string): Uint8Array {
  const font = '/Resources<</Font<</J 10 0 R/F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>'
  return pdf([{ content: `${at(60, 700, 'Title')}BT /J 12 Tf 60 660 Td <${codes}> Tj ET`, entries: font }], {
    objects: [
      `<</Type/Font/Subtype/Type0/BaseFont/Mincho/Encoding/${encoding}/DescendantFonts[11 0 R]>>`,
      `<</Type/Font/Subtype/CIDFontType0/BaseFont/Mincho/CIDSystemInfo<</Registry(Adobe)/Ordering(${ordering})/Supplement 2>>/DW 1000/FontDescriptor<</Type/FontDescriptor/FontName/Mincho/Flags 4>>>>`,
    ],
  })
}

describe('fonts with predefined encodings', () => {
  test.each([
    ['Japan1', '90ms-RKSJ-H', '93FA967B8CEA', '日本語'],
    ['Japan1', 'EUC-H', 'C6FCCBDC', '日本'],
    ['Japan1', 'H', '467C4B5C', '日本'],
    ['Japan1', 'UniJIS-UTF16-H', '65E5672C', '日本'],
    ['Japan1', 'UniJIS-UCS2-HW-H', '65E5672C00410042', '日本AB'],
    ['Japan1', 'Identity-H', '0CD40E8A', '日本'],
    ['GB1', 'UniGB-UCS2-H', '4E2D6587', '中文'],
    ['GB1', 'GBK-EUC-H', 'D6D0CEC4', '中文'],
    ['GB1', 'GB-EUC-H', 'D6D0CEC4', '中文'],
    ['Korea1', 'KSCms-UHC-H', 'C7D1B1B9', '한국'],
    ['Korea1', 'UniKS-UTF16-H', 'D55CAD6D', '한국'],
    ['CNS1', 'ETen-B5-H', 'A4A4A4E5', '中文'],
    ['CNS1', 'UniCNS-UCS2-H', '4E2D6587', '中文'],
  ])('are read: %s, %s', async (ordering, encoding, codes, text) => {
    const { markdown, warning } = await read(cjkPdf(ordering, encoding, codes))
    expect({ markdown, warning }).toEqual({ markdown: `Title\n\n${text}`, warning: undefined })
  })

  test('may be written from top to bottom', async () => {
    expect(await markdownOf(cjkPdf('Japan1', '90ms-RKSJ-V', '93FA967B8CEA8142'))).toBe('Title\n\n日本語。')
  })
})

describe('a PDF that cannot be read', () => {
  test('reports pages that are images', async () => {
    const image = 'q 500 0 0 700 50 50 cm /Im Do Q'
    expect((await read(pdf([image, image]))).warning).toBe('the PDF has no text: its pages are images')
    const mixed = await read(pdf([at(60, 700, 'Text'), image, '']))
    expect(mixed).toMatchObject({ warning: 'page 2 is an image without text', pages: 3 })
  })

  test('reports text in fonts of encodings that it cannot read', async () => {
    expect(await read(cjkPdf('Japan1', 'Unknown-H', '93FA967B'))).toMatchObject({
      markdown: 'Title',
      warning: 'text is missing from page 1: the fonts have an encoding that is not supported',
    })
  })

  test('reports blank PDFs', async () => {
    expect(await read(pdf(['']))).toMatchObject({ markdown: '', warning: 'the PDF has no text' })
  })

  test('is rejected when it is encrypted or damaged', async () => {
    const key = '<0011223344556677889900112233445566778899001122334455667788990011>'
    const locked = pdf([at(60, 700, 'Secret')], {
      trailer: `/Encrypt 10 0 R/ID[${key}${key}]`,
      objects: [`<</Filter/Standard/V 1/R 2/O${key}/U${key}/P -4>>`],
    })
    await expect(read(locked)).rejects.toMatchObject({
      code: 'unsupported_content_type',
      message: 'the PDF is protected by a password',
    })
    const damaged = new Uint8Array(Buffer.from('%PDF-1.7\nnot really'))
    await expect(read(damaged)).rejects.toMatchObject({
      code: 'unsupported_content_type',
      message: 'the PDF cannot be read',
    })
  })
})
