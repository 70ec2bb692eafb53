/** Office documents as Markdown. */
import { describe, expect, test } from 'vitest'
import { docx, epub, odt, p, pptx, relations, rtf, xlsx } from '../../support/office-files.ts'
import { markdownOf, readDocument as read } from '../../support/office-markdown.ts'

describe('docx', () => {
  test('has headings, styles, links, lists, tables and notes', async () => {
    const run = (text: string, style: string) =>
      `<w:r><w:rPr>${style}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
    const item = (text: string, level: number) =>
      p(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>`)
    const cell = (text: string) => `<w:tc>${p(text)}</w:tc>`
    const bytes = docx(
      p('Deltas', '<w:pStyle w:val="H1"/>') +
        `<w:p>${run('Sand ', '')}${run('settles', '<w:b/>')}${run(' and ', '')}${run('builds', '<w:i/>')}${run(' land', '<w:b w:val="0"/>')}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:moveFrom>${run(' moved', '')}</w:moveFrom><w:ins>${run(', slowly', '')}</w:ins><w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
        `<w:p><w:hyperlink r:id="r1">${run('more', '')}</w:hyperlink></w:p>` +
        item('first', 0) +
        item('inner', 1) +
        item('second', 0) +
        `<w:tbl><w:tr>${cell('River')}${cell('km')}</w:tr><w:tr>${cell('Nile | long')}${cell('6650')}</w:tr></w:tbl>`,
      { 'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2">${p('A note')}</w:footnote></w:footnotes>` },
    )
    const { markdown, title, author, published } = await read(bytes)
    expect(markdown).toContain('# Deltas')
    expect(markdown).toContain('Sand **settles** and *builds* land, slowly')
    expect(markdown).not.toMatch(/gone|moved/)
    expect(markdown).toContain('[more](https://example.com/deltas)')
    expect(markdown).toMatch(/1\. first\n {2,4}[-*] inner\n2\. second/)
    expect(markdown).toMatch(/\| River \| km \|\n\| --- \| --- \|\n\| Nile \\\| long \| 6650 \|/)
    expect(markdown).toMatch(/land, slowly\[\^1\]\n[^]*\n\[\^1\]: A note$/)
    expect({ title, author, published }).toEqual({
      title: 'A title',
      author: 'Ada Rivers',
      published: '2026-03-01T08:00:00.000Z',
    })
  })

  const numbering = (levels: string, more: string) =>
    `<w:numbering><w:abstractNum w:abstractNumId="0">${levels}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>${more}</w:numbering>`
  const level = (at: number, format: string, text: string) =>
    `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`
  const entry = (text: string, id: number, at: number) =>
    p(text, `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${id}"/></w:numPr>`)

  test('continues numbers across paragraphs, and shows those that Markdown cannot write', async () => {
    const five =
      '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    const levels = level(0, 'decimal', '%1.') + level(1, 'lowerLetter', '(%2)') + level(2, 'lowerRoman', '%1.%3')
    const body =
      entry('one', 1, 0) +
      p('Between.') +
      entry('two', 1, 0) +
      entry('a', 1, 1) +
      entry('b', 1, 1) +
      entry('c', 1, 2) +
      entry('five', 3, 0) +
      entry('six', 3, 0)
    expect(await markdownOf(docx(body, { 'word/numbering.xml': numbering(levels, five) }))).toBe(
      '1. one\n\nBetween.\n\n2. two\n   - (a) a\n   - (b) b\n     - 2.i c\n\n5) five\n6) six',
    )
  })

  test('has lists and numbered headings of styles', async () => {
    const style = (id: string, name: string, more: string) =>
      `<w:style w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`
    const number = (id: number) => `<w:pPr><w:numPr><w:numId w:val="${id}"/></w:numPr></w:pPr>`
    const styles =
      style('H1', 'heading 1', number(1)) +
      style('LB', 'List Bullet', number(2)) +
      style('Own', 'Own', '<w:basedOn w:val="LB"/>') +
      style('LB2', 'List Bullet 2', number(2))
    const bullets = `<w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '*')}</w:abstractNum><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>`
    const body =
      p('Scope', '<w:pStyle w:val="H1"/>') +
      p('Eggs', '<w:pStyle w:val="LB"/>') +
      p('brown', '<w:pStyle w:val="LB2"/>') +
      p('Milk', '<w:pStyle w:val="Own"/>') +
      p('Terms', '<w:pStyle w:val="H1"/>')
    const markdown = await markdownOf(
      docx(body, {
        'word/styles.xml': `<w:styles>${styles}</w:styles>`,
        'word/numbering.xml': numbering(level(0, 'decimal', '%1.'), bullets),
      }),
    )
    expect(markdown).toBe('# 1. Scope\n\n- Eggs\n  - brown\n- Milk\n\n# 2. Terms')
  })

  test('has links of fields, and neither hidden text nor instructions', async () => {
    const char = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const text = (content: string, style = '') =>
      `<w:r><w:rPr>${style}</w:rPr><w:t xml:space="preserve">${content}</w:t></w:r>`
    const link = `${char('begin')}<w:r><w:instrText> HYPERLINK "https://example.com/a" \\l "top" </w:instrText></w:r>${char('separate')}${text('tides')}${char('end')}`
    const simple = `<w:fldSimple w:instr="HYPERLINK https://example.com/b">${text('second')}</w:fldSimple>`
    const body = `<w:p>${link}${text('secret ', '<w:vanish/>')}${text(' and ')}${simple}${char('begin')}${text(' end')}</w:p>`
    expect(await markdownOf(docx(body))).toBe(
      '[tides](https://example.com/a#top) and [second](https://example.com/b) end',
    )
  })

  test('has formulas as TeX, and rows that begin in a later column', async () => {
    const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
    const formula = `<m:oMath><m:f><m:num>${r('a')}</m:num><m:den>${r('bc')}</m:den></m:f>${r('+')}<m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup></m:oMath>`
    const root = `<m:oMathPara><m:oMath><m:rad><m:deg/><m:e>${r('y+1')}</m:e></m:rad></m:oMath></m:oMathPara>`
    const row = (first: string, ...cells: string[]) =>
      `<w:tr>${first}${cells.map((cell) => `<w:tc>${p(cell)}</w:tc>`).join('')}</w:tr>`
    const table = `<w:tbl>${row('', 'A', 'B')}${row('<w:trPr><w:gridBefore w:val="1"/></w:trPr>', 'late')}</w:tbl>`
    const markdown = await markdownOf(docx(`<w:p>${formula}</w:p><w:p>${root}</w:p>${table}`))
    expect(markdown).toBe('$\\frac{a}{bc}+x^2$\n\n$$\n\\sqrt{y+1}\n$$\n\n| A | B |\n| --- | --- |\n|  | late |')
  })

  test('keeps text in text boxes and content controls, once', async () => {
    const box = `<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr descr="A map"/><w:txbxContent>${p('Boxed')}</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:txbxContent>${p('Boxed')}</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>`
    const markdown = await markdownOf(
      docx(`<w:sdt><w:sdtContent>${p('Controlled')}</w:sdtContent></w:sdt><w:p>${box}</w:p>`),
    )
    expect(markdown.match(/Boxed/g)).toHaveLength(1)
    expect(markdown).toMatch(/Controlled[^]*A map/)
  })

  test('shows characters of symbol fonts, and bases of pronunciation hints', async () => {
    const symbol = (font: string, code: string) => `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`
    const ruby = `<w:r><w:ruby><w:rt><w:r><w:t>kanji</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>`
    const body = `<w:p>${symbol('Symbol', 'F061')}${symbol('Symbol', 'F0B3')}${symbol('Symbol', 'F035')}${symbol('Wingdings', 'F0E0')}${symbol('Wingdings 2', 'F050')}${symbol('Arial', '2192')}${ruby}</w:p>`
    expect(await markdownOf(docx(body))).toBe('α≥5→✓→漢字')
  })

  test('omits deleted rows, and joins paragraphs whose end is deleted', async () => {
    const row = (text: string, properties = '') => `<w:tr><w:trPr>${properties}</w:trPr><w:tc>${p(text)}</w:tc></w:tr>`
    const mark = '<w:rPr><w:del w:id="1"/></w:rPr>'
    const body =
      p('Sand ', mark) +
      p('and ', mark) +
      p('silt') +
      p('Last', mark) +
      `<w:tbl>${row('River')}${row('gone', '<w:del/>')}${row('Nile')}</w:tbl>`
    expect(await markdownOf(docx(body))).toBe('Sand and silt\n\nLast\n\n| River |\n| --- |\n| Nile |')
  })

  test('omits text that styles of characters and paragraphs hide', async () => {
    const styles =
      '<w:styles><w:style w:styleId="X"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="Y"><w:basedOn w:val="X"/></w:style><w:style w:styleId="Z"><w:basedOn w:val="Y"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style></w:styles>'
    const run = (text: string, style: string) =>
      `<w:r><w:rPr><w:rStyle w:val="${style}"/></w:rPr><w:t>${text}</w:t></w:r>`
    const body = p('secret', '<w:pStyle w:val="Y"/>') + `<w:p>${run('hidden', 'Y')}${run('shown', 'Z')}</w:p>`
    expect(await markdownOf(docx(body, { 'word/styles.xml': styles }))).toBe('shown')
  })

  test('keeps columns of merged rows and of rows that end early', async () => {
    const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`
    const table = `<w:tbl><w:tr>${cell('A', '<w:vMerge w:val="restart"/>')}${cell('B')}</w:tr><w:tr>${cell('', '<w:vMerge/>')}${cell('C')}</w:tr><w:tr><w:trPr><w:gridAfter w:val="1"/></w:trPr>${cell('D')}</w:tr></w:tbl>`
    expect(await markdownOf(docx(table))).toBe('| A | B |\n| --- | --- |\n|  | C |\n| D |  |')
  })

  test('keeps content controls around rows, cells and words', async () => {
    const sdt = (content: string) =>
      `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`
    const cell = (text: string) => `<w:tc>${p(text)}</w:tc>`
    const body = `<w:p>${sdt('<w:r><w:t>word</w:t></w:r>')}</w:p><w:tbl><w:tr>${cell('A')}${sdt(cell('B'))}</w:tr>${sdt(`<w:tr>${cell('C')}${cell('D')}</w:tr>`)}</w:tbl>`
    expect(await markdownOf(docx(body))).toBe('word\n\n| A | B |\n| --- | --- |\n| C | D |')
  })

  test('warns of documents inside that it does not read', async () => {
    const { markdown, warning } = await read(docx(`${p('Text')}<w:altChunk r:id="r7"/>`))
    expect(markdown).toBe('Text')
    expect(warning).toBe('the document contains 1 other document that cannot be read (altChunk)')
  })
})

test('xlsx has a table for each sheet, with dates and strings', async () => {
  const markdown = await markdownOf(
    xlsx(
      '<row><c r="B2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c><c r="D2" t="inlineStr"><is><t>Seen</t></is></c></row>' +
        '<row><c r="B3" t="str"><v>Nile</v></c><c r="C3"><v>6650</v></c><c r="D3" s="1"><v>46082</v></c></row>' +
        '<row><c r="B4"><v>1</v></c><c r="D4" t="b"><v>1</v></c></row>',
    ),
  )
  expect(markdown).toMatch(
    /## Rivers\n\n\| River \| Length \| Seen \|\n\| --- \| --- \| --- \|\n\| Nile \| 6650 \| 2026-03-01 \|\n\| 1 \| +\| TRUE \|/,
  )
})

test('xlsx counts the days of dates from 1904 where the workbook does', async () => {
  const workbook = `<workbook><workbookPr date1904="1"/><sheets><sheet name="Rivers" sheetId="1" r:id="r1"/></sheets></workbook>`
  const sheet = '<row><c r="A1" s="1"><v>44620</v></c></row>'
  expect(await markdownOf(xlsx(sheet, { 'xl/workbook.xml': workbook }))).toContain('| 2026-03-01 |')
})

test('xlsx shows values as Excel does', async () => {
  const values: readonly (readonly [format: string | number, value: string, shown: string])[] = [
    ['General', '0.30000000000000004', '0.3'],
    ['General', '1.23E+15', '1230000000000000'],
    [14, '45413', '2024-05-01'],
    [22, '45413.75', '2024-05-01 18:00'],
    [30, '45413', '2024-05-01'],
    [31, '45413', '2024年5月1日'],
    [32, '0.75', '18:00:00'],
    [55, '45413', '2024-05-01'],
    [57, '45413', '2024-05-01'],
    ['[h]:mm', '1.5', '36:00'],
    [9, '0.25', '25%'],
    ['0.00%', '0.125', '12.50%'],
    ['[$-404]e/m/d', '45413', '2024-05-01'],
    ['dd.mm.yyyy', '45413', '2024-05-01'],
    ['mmmm yyyy', '45413', 'May 2024'],
    ['h:mm AM/PM', '0.75', '6:00 PM'],
    ['# ?/?', '1.25', '1 1/4'],
    ['0.00E+00', '12345', '1.23E+04'],
    ['[$€-407] #,##0.00', '1234.5', '€ 1,234.50'],
    ['[>=100]"many";[=1]"one";0', '150', 'many'],
    ['not a "format', '5', '5'],
  ]
  const ids = values.map(([format], at) => (typeof format === 'number' ? format : 170 + at))
  const codes = values.flatMap(([format], at) =>
    typeof format === 'string'
      ? [`<numFmt numFmtId="${170 + at}" formatCode="${format.replaceAll('"', '&quot;').replaceAll('>', '&gt;')}"/>`]
      : [],
  )
  const styles = `<styleSheet><numFmts>${codes.join('')}</numFmts><cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`
  const row = (at: number, value: string) =>
    `<row r="${at}"><c r="A${at}" t="inlineStr"><is><t>x</t></is></c><c r="B${at}" s="${at - 1}"><v>${value}</v></c></row>`
  const markdown = await markdownOf(
    xlsx(values.map(([, value], at) => row(at + 1, value)).join(''), { 'xl/styles.xml': styles }),
  )
  const shown = markdown.split('\n').flatMap((line) => /^\| x \| (.*) \|$/.exec(line)?.[1] ?? [])
  expect(shown).toEqual(values.map(([, , text]) => text))
})

test('xlsx divides a sheet at empty rows, marks hidden sheets, and keeps links and formulas', async () => {
  const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`
  const sheet = `<worksheet><sheetData><row r="1">${text('A1', 'Rivers of the north')}</row><row r="2">${text('A2', 'River')}${text('B2', 'km')}</row><row r="3">${text('A3', 'Glomma')}<c r="B3"><v>621</v></c></row><row r="5">${text('A5', 'Lake')}${text('B5', 'km²')}</row><row r="6">${text('A6', 'Mjøsa')}<c r="B6"><f>SUM(B1:B2)</f></c></row></sheetData><hyperlinks><hyperlink ref="A6" r:id="h1"/></hyperlinks></worksheet>`
  const markdown = await markdownOf(
    xlsx('', {
      'xl/workbook.xml': '<workbook><sheets><sheet name="Rates" state="hidden" r:id="r1"/></sheets></workbook>',
      'xl/worksheets/sheet1.xml': sheet,
      'xl/worksheets/_rels/sheet1.xml.rels': relations({ h1: ['hyperlink', 'https://example.com/', 'External'] }),
    }),
  )
  expect(markdown).toBe(
    '## Rates (hidden)\n\nRivers of the north\n\n| River | km |\n| --- | --- |\n| Glomma | 621 |\n\n| Lake | km² |\n| --- | --- |\n| [Mjøsa](https://example.com/) | =SUM(B1:B2) |',
  )
})

test('xlsx names cells that cannot be read, and keeps the others', async () => {
  const cells = '<c r="A1"><v>6650</v></c><c r="B1" t="s"/><c r="C1" t="s"><v>99</v></c><c r="ZZZ1"><v>1</v></c>'
  const { markdown, warning } = await read(xlsx(`<row>${cells}</row>`))
  expect(markdown).toContain('| 6650 |')
  expect(markdown).not.toContain('River |')
  expect(warning).toBe('2 cells or sheets cannot be read, such as C1')
})

test('pptx has a section for each slide, with lists, tables and notes', async () => {
  const shape = (type: string, ...lines: string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph${type}/></p:nvPr></p:nvSpPr><p:txBody>${lines.map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`
  const { markdown, pages } = await read(
    pptx(shape(' type="title"', 'Deltas') + shape(' idx="1"', 'Sand', 'Water'), {
      'ppt/slides/_rels/slide1.xml.rels': relations({ r9: ['notesSlide', '../notesSlides/n1.xml'] }),
      'ppt/notesSlides/n1.xml': `<p:notes>${shape(' type="body"', 'Say hello')}</p:notes>`,
    }),
  )
  expect(markdown).toMatch(/## Deltas\n\n[-*] Sand\n[-*] Water\n\n> Say hello/)
  expect(pages).toBe(1)
})

test('odt has headings, styles, lists and tables', async () => {
  const markdown = await markdownOf(
    odt(
      '<text:h text:outline-level="2">Deltas</text:h><text:p>Sand<text:s text:c="1"/><text:span text:style-name="B">settles</text:span> <text:a xlink:href="https://example.com/">here</text:a></text:p>' +
        '<text:list text:style-name="N"><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>' +
        '<table:table><table:table-row><table:table-cell><text:p>River</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row></table:table>',
    ),
  )
  expect(markdown).toContain('## Deltas\n\nSand **settles** [here](https://example.com/)')
  expect(markdown).toContain('1. one\n2. two')
  expect(markdown).toContain('| River | x | x |')
})

test('epub has its chapters in reading order, without scripts and inner links', async () => {
  const { markdown, title, author, language } = await read(
    epub([
      '<h1>One</h1><p>Sand <a href="c1.xhtml">next</a></p><script>alert(1)</script>',
      '<h1>Two</h1><img src="a.png" alt="A map"/>',
    ]),
  )
  expect(markdown).toBe(
    '# One\n\nSand next\n\n# Two\n\n\\[A map\\]'.replaceAll('\\', markdown.includes('\\[') ? '\\' : ''),
  )
  expect({ title, author, language }).toEqual({ title: 'A book', author: 'Ada Rivers', language: 'en' })
})

test('chapters of an epub are parsed as XML', async () => {
  const { markdown } = await read(
    epub(['<p><a id="top"/>One <i/>two</p><textarea/><p><![CDATA[<three>]]></p>', '<p>Four<br><b/>five</p>']),
  )
  expect(markdown).toBe('One two\n\n\\<three>\n\nFour\\\nfive')
})

test('RTF has paragraphs, styles, links, tables and characters of its code page', async () => {
  const { markdown, title, author } = await read(
    rtf(
      String.raw`\pard\outlinelevel0 Deltas\par\pard Sand {\b settles} caf\'e9 \u8212?\u233\'e9 ok\par ` +
        String.raw`{\field{\*\fldinst HYPERLINK "https://example.com/"}{\fldrslt more}}\par{\*\ignored secret}{\pict 00ff}` +
        String.raw`\trowd\intbl River\cell km\cell\row\trowd\intbl Nile\cell 6650\cell\row\pard End\par`,
    ),
  )
  expect(markdown).toContain('# Deltas\n\nSand **settles** café —é ok')
  expect(markdown).toContain('[more](https://example.com/)')
  expect(markdown).toMatch(/\| River \| km \|\n\| --- \| --- \|\n\| Nile \| 6650 \|\n\nEnd/)
  expect(markdown).not.toMatch(/secret|00ff|Arial/)
  expect({ title, author }).toEqual({ title: 'A title', author: 'Ada Rivers' })
})

test('odt continues and starts numbers, and keeps paragraphs of an item apart', async () => {
  const styles =
    '<office:styles><text:list-style style:name="M"><text:list-level-style-number text:level="1" text:start-value="3"/><text:list-level-style-bullet text:level="2"/></text:list-style></office:styles>'
  const item = (content: string, more = '') => `<text:list-item${more}><text:p>${content}</text:p></text:list-item>`
  const list = (content: string, more = '') => `<text:list text:style-name="M"${more}>${content}</text:list>`
  const text =
    list(
      item('a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list><text:p>more'),
      ' xml:id="one"',
    ) +
    '<text:p>Between</text:p>' +
    list(item('c'), ' text:continue-numbering="true"') +
    '<text:p>Then</text:p>' +
    list(item('d', ' text:start-value="9"')) +
    '<text:p>Last</text:p>' +
    list(item('e'), ' text:continue-list="one"')
  expect(await markdownOf(odt(text, { 'styles.xml': styles }))).toBe(
    '3. a\n   - b\n\n   more\n\nBetween\n\n4. c\n\nThen\n\n9. d\n\nLast\n\n4. e',
  )
})

test('odt has notes and the final text, without hidden text', async () => {
  const hidden =
    '<office:styles><style:style style:name="X"><style:text-properties text:display="none"/></style:style></office:styles>'
  const note =
    '<text:note><text:note-citation>7</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body></text:note>'
  const text = `<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes><text:p>Sand${note} <text:span text:style-name="X">secret</text:span>settles<text:hidden-text text:string-value="s">secret</text:hidden-text></text:p><text:p text:style-name="X">secret</text:p><text:section text:display="none"><text:p>secret</text:p></text:section><text:p>secret<text:hidden-paragraph text:is-hidden="true"/></text:p>`
  expect(await markdownOf(odt(text, { 'styles.xml': hidden }))).toBe('Sand[^1] settles\n\n[^1]: A note')
})

test('pptx marks hidden slides, and keeps shapes of groups', async () => {
  const slide =
    '<p:sld show="0"><p:cSld><p:spTree><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>Sand</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp></p:spTree></p:cSld></p:sld>'
  expect(await markdownOf(pptx('', { 'ppt/slides/slide1.xml': slide }))).toBe('## Slide 1 (hidden)\n\nSand')
})

test('odt starts numbers again in the middle of a list', async () => {
  const item = (text: string, more = '') => `<text:list-item${more}><text:p>${text}</text:p></text:list-item>`
  const text = `<text:list text:style-name="N">${item('a')}${item('b', ' text:start-value="7"')}${item('c')}</text:list>`
  expect(await markdownOf(odt(text))).toMatch(/^1[.)] a\n+7[.)] b\n8[.)] c$/)
})

test('xlsx omits phonetic hints, and keeps errors and the columns of merged cells', async () => {
  const strings = '<sst><si><r><t>東</t></r><r><t>京</t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si></sst>'
  const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`
  const sheet = `<worksheet><sheetData><row r="4"><c r="C4" t="s"><v>0</v></c>${text('D4', 'B')}${text('E4', 'C')}</row><row r="5">${text('C5', 'wide')}<c r="D5"/><c r="E5" t="e"><v>#N/A</v></c></row></sheetData><mergeCells><mergeCell ref="C5:D5"/></mergeCells></worksheet>`
  const markdown = await markdownOf(xlsx('', { 'xl/sharedStrings.xml': strings, 'xl/worksheets/sheet1.xml': sheet }))
  expect(markdown).toBe('## Rivers\n\n| 東京 | B | C |\n| --- | --- | --- |\n| wide |  | #N/A |')
})
