/** Parts of office documents that are documents or drawings of their own, and the order of slides. */
import { describe, expect, test } from 'vitest'
import { docx, p, pptx, relations, rtf, xlsx } from '../../support/office-files.ts'
import { markdownOf, readDocument } from '../../support/office-markdown.ts'

const points = (values: readonly (string | undefined)[]) =>
  values.map((value, at) => (value === undefined ? '' : `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`)).join('')
const texts = (...values: (string | undefined)[]) =>
  `<c:strRef><c:strCache><c:ptCount val="${values.length}"/>${points(values)}</c:strCache></c:strRef>`
const numbers = (format: string, ...values: (string | undefined)[]) =>
  `<c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(values)}</c:numCache></c:numRef>`
const rich = (text: string) =>
  `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`
const chart = (title: string, plot: string) =>
  `<c:chartSpace><c:chart>${title}<c:plotArea>${plot}</c:plotArea></c:chart></c:chartSpace>`
const graphic = (content: string) => `<a:graphic><a:graphicData>${content}</a:graphicData></a:graphic>`

const bars = chart(
  rich('Water'),
  `<c:barChart><c:ser><c:tx>${texts('2024')}</c:tx><c:cat>${texts('Nile', 'Rhine')}</c:cat><c:val>${numbers('0.0%', '0.5', '0.25')}</c:val></c:ser><c:ser><c:tx>${texts('2025')}</c:tx><c:cat>${texts('Nile', 'Rhine')}</c:cat><c:val>${numbers('General', undefined, '0.30000000000000004')}</c:val></c:ser></c:barChart><c:catAx>${rich('River')}</c:catAx>`,
)
const barTable = 'Water\n\n| River | 2024 | 2025 |\n| --- | --- | --- |\n| Nile | 50.0% |  |\n| Rhine | 25.0% | 0.3 |'

const point = (id: string, text: string, type = 'node') =>
  `<dgm:pt modelId="${id}" type="${type}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`
const connect = (from: string, to: string, order: number) =>
  `<dgm:cxn srcId="${from}" destId="${to}" srcOrd="${order}"/>`
const diagram = `<dgm:dataModel><dgm:ptLst>${point('0', '', 'doc')}${point('3', 'Sell')}${point('1', 'Buy')}${point('2', 'cheap')}${point('9', 'layout', 'pres')}</dgm:ptLst><dgm:cxnLst>${connect('0', '3', 1)}${connect('0', '1', 0)}${connect('1', '2', 0)}${connect('2', '1', 0)}<dgm:cxn type="presOf" srcId="1" destId="9"/></dgm:cxnLst></dgm:dataModel>`

const figures = relations({ r8: ['chart', 'charts/c.xml'], r9: ['diagramData', 'diagrams/d.xml'] })

describe('charts and diagrams', () => {
  test('of docx are tables and lists after their paragraph', async () => {
    const drawing = (content: string) =>
      `<w:p><w:r><w:t>See:</w:t></w:r><w:r><w:drawing>${graphic(content)}</w:drawing></w:r></w:p>`
    const body = drawing('<c:chart r:id="r8"/>') + drawing('<dgm:relIds r:dm="r9"/>') + p('After')
    const files = { 'word/_rels/document.xml.rels': figures, 'word/charts/c.xml': bars, 'word/diagrams/d.xml': diagram }
    expect(await markdownOf(docx(body, files))).toBe(`See:\n\n${barTable}\n\nSee:\n\n- Buy\n  - cheap\n- Sell\n\nAfter`)
  })

  test('of pptx are tables and lists in their frame', async () => {
    const frame = (content: string) => `<p:graphicFrame>${graphic(content)}</p:graphicFrame>`
    const files = {
      'ppt/slides/_rels/slide1.xml.rels': relations({
        r8: ['chart', '../charts/c.xml'],
        r9: ['diagramData', '../diagrams/d.xml'],
      }),
      'ppt/charts/c.xml': bars,
      'ppt/diagrams/d.xml': diagram,
    }
    const slide = frame('<c:chart r:id="r8"/>') + frame('<dgm:relIds r:dm="r9"/>')
    expect(await markdownOf(pptx(slide, files))).toBe(`## Slide 1\n\n${barTable}\n\n- Buy\n  - cheap\n- Sell`)
  })

  test.each([
    [
      'points of a scatter chart',
      chart(
        '',
        `<c:scatterChart><c:ser><c:tx><c:v>Depth</c:v></c:tx><c:xVal>${numbers('General', '1', '2.5')}</c:xVal><c:yVal>${numbers('General', '10', '20')}</c:yVal></c:ser></c:scatterChart>`,
      ),
      '|  | Depth |\n| --- | --- |\n| 1 | 10 |\n| 2.5 | 20 |',
    ],
    [
      'categories of several levels',
      chart(
        '',
        `<c:lineChart><c:ser><c:tx>${texts('km')}</c:tx><c:cat><c:multiLvlStrRef><c:multiLvlStrCache><c:lvl>${points(['Q1', 'Q2', 'Q1'])}</c:lvl><c:lvl>${points(['2024', undefined, '2025'])}</c:lvl></c:multiLvlStrCache></c:multiLvlStrRef></c:cat><c:val>${numbers('General', '1', '2', '3')}</c:val></c:ser></c:lineChart>`,
      ),
      '|  | km |\n| --- | --- |\n| 2024 Q1 | 1 |\n| 2024 Q2 | 2 |\n| 2025 Q1 | 3 |',
    ],
    [
      'dates, and series with other categories',
      chart(
        '',
        `<c:lineChart><c:ser><c:tx>${texts('a')}</c:tx><c:cat>${numbers('m/d/yyyy', '45413')}</c:cat><c:val>${numbers('General', '1')}</c:val></c:ser><c:ser><c:tx>${texts('b')}</c:tx><c:cat>${texts('x')}</c:cat><c:val>${numbers('General', '2')}</c:val></c:ser></c:lineChart>`,
      ),
      '|  | a |\n| --- | --- |\n| 2024-05-01 | 1 |\n\n|  | b |\n| --- | --- |\n| x | 2 |',
    ],
    [
      'chart types since Office 2016',
      '<cx:chartSpace><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">In</cx:pt><cx:pt idx="1">Out</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl><cx:pt idx="0">5</cx:pt><cx:pt idx="1">-3</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:title><cx:tx><cx:txData><cx:v>Flow</cx:v></cx:txData></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion><cx:series><cx:tx><cx:txData><cx:v>Sum</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>',
      'Flow\n\n|  | Sum |\n| --- | --- |\n| In | 5 |\n| Out | -3 |',
    ],
  ])('charts have %s', async (_, part, table) => {
    const body = `<w:p><w:r><w:drawing>${graphic('<c:chart r:id="r8"/>')}</w:drawing></w:r></w:p>`
    const files = { 'word/_rels/document.xml.rels': figures, 'word/charts/c.xml': part }
    expect(await markdownOf(docx(body, files))).toBe(table)
  })
})

describe('documents in docx', () => {
  const around = (file: string, content: string | Uint8Array) =>
    docx(p('Before') + '<w:altChunk r:id="r7"/>' + p('After'), {
      'word/_rels/document.xml.rels': relations({ r7: ['aFChunk', file] }),
      [`word/${file}`]: content,
    })
  const mhtml =
    'MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n  type="text/html";\r\n  boundary="----=part"\r\n\r\n------=part\r\nContent-Type: text/html;\r\n  charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>In=\r\nner <b class=3D"x">=E2=82=AC</b></p>\r\n------=part--\r\n'

  test.each([
    [
      'HTML',
      around('a.html', '<html><body><h2>Inner</h2><ul><li>x</li></ul><a href="b.html">y</a></body></html>'),
      '## Inner\n\n- x\n\ny',
    ],
    [
      'XHTML',
      around('a.xhtml', '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>In<i/>ner</p></body></html>'),
      'Inner',
    ],
    ['a web archive', around('a.mht', mhtml), 'Inner **€**'],
    ['text', around('a.txt', 'one <b>\r\n\r\ntwo'), 'one \\<b>\n\ntwo'],
    ['RTF', around('a.rtf', rtf(String.raw`\pard Inner {\b bold}\par`)), 'Inner **bold**'],
    ['a Word document', around('a.docx', docx(p('Inner', '<w:pStyle w:val="H1"/>'))), '# Inner'],
  ])('%s is converted in its place', async (_, bytes, inner) => {
    const { markdown, warning } = await readDocument(bytes)
    expect(markdown).toBe(`Before\n\n${inner}\n\nAfter`)
    expect(warning).toBeUndefined()
  })

  test('keep notes of their own', async () => {
    const note = '<w:p><w:r><w:t>text</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    const notes = (text: string) => ({
      'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2">${p(text)}</w:footnote></w:footnotes>`,
    })
    const bytes = docx(note + '<w:altChunk r:id="r7"/>', {
      'word/_rels/document.xml.rels': relations({ r7: ['aFChunk', 'a.docx'] }),
      'word/a.docx': docx(note, notes('inner note')),
      ...notes('outer note'),
    })
    const markdown = await markdownOf(bytes)
    const labels = [...markdown.matchAll(/^text(\[\^[^\]]+\])$/gm)].map(([, label]) => label)
    expect(labels).toHaveLength(2)
    expect(markdown).toContain(`${labels[0]}: outer note`)
    expect(markdown).toContain(`${labels[1]}: inner note`)
  })

  test.each([
    [
      'in a document inside',
      docx('<w:altChunk r:id="r7"/>', {
        'word/_rels/document.xml.rels': relations({ r7: ['aFChunk', 'b.docx'] }),
        'word/b.docx': docx(p('Deep')),
      }),
    ],
    ['of unknown kinds', new Uint8Array([0, 1, 2, 0, 3])],
    ['that are broken', new TextEncoder().encode('PK broken')],
  ])('%s are reported', async (_, content) => {
    const { markdown, warning } = await readDocument(around('a.docx', content))
    expect(markdown).toBe('Before\n\nAfter')
    expect(warning).toBe('the document contains 1 other document that cannot be read (altChunk)')
  })
})

test('links in notes are those of the notes', async () => {
  const link = (text: string) =>
    `<w:p><w:hyperlink r:id="r1"><w:r><w:t>${text}</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`
  const markdown = await markdownOf(
    docx(link('text'), {
      'word/footnotes.xml': `<w:footnotes><w:footnote w:id="2">${link('note').replace(/<w:r><w:footnoteReference.*?<\/w:r>/, '')}</w:footnote></w:footnotes>`,
      'word/_rels/footnotes.xml.rels': relations({ r1: ['hyperlink', 'https://example.com/source', 'External'] }),
    }),
  )
  expect(markdown).toBe('[text](https://example.com/deltas)[^1]\n\n[^1]: [note](https://example.com/source)')
})

test('letters in symbol fonts are what they show', async () => {
  const run = (font: string, text: string) =>
    `<w:r><w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}"/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
  const body = `<w:p>${run('Wingdings', '\u00fc J\uf04a')}${run('Symbol', 'ab5')}${run('Arial', 'ab')}${run('Wingdings 2', '\uf06a')}${run('Wingdings', '日')}</w:p>`
  expect(await markdownOf(docx(body))).toBe('✓ ☺☺αβ5ab①日')
})

test('sheets have the text of their drawings, and titles of charts', async () => {
  const shape = '<xdr:sp><xdr:txBody><a:p><a:r><a:t>Checked in May</a:t></a:r></a:p></xdr:txBody></xdr:sp>'
  const frame =
    '<xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="r1"/></a:graphicData></a:graphic></xdr:graphicFrame>'
  const picture = '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" descr="A map"/></xdr:nvPicPr></xdr:pic>'
  const anchors = [shape, frame, picture].map((one) => `<xdr:twoCellAnchor>${one}</xdr:twoCellAnchor>`).join('')
  const bytes = xlsx('<row><c r="A1"><v>1</v></c></row>', {
    'xl/worksheets/_rels/sheet1.xml.rels': relations({ r1: ['drawing', '../drawings/d.xml'] }),
    'xl/drawings/d.xml': `<xdr:wsDr>${anchors}</xdr:wsDr>`,
    'xl/drawings/_rels/d.xml.rels': relations({ r1: ['chart', '../charts/c.xml'] }),
    'xl/charts/c.xml': bars,
  })
  expect(await markdownOf(bytes)).toBe('## Rivers\n\n| 1 |\n| --- |\n\nChecked in May\n\nWater\n\n[A map]')
})

describe('slides', () => {
  const frame = (box: string, tag = 'a:xfrm') => {
    const [x, y, cx, cy] = box.split(' ')
    return `<${tag}><a:off x="${x}" y="${y}"/><a:ext cx="${cx}" cy="${cy}"/></${tag}>`
  }
  const shape = (text: string, box = '', ph = '') =>
    `<p:sp><p:nvSpPr><p:cNvPr id="1"/><p:nvPr>${ph}</p:nvPr></p:nvSpPr><p:spPr>${box && frame(box)}</p:spPr><p:txBody>${text
      .split('|')
      .map((line) => `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`
  const group = (box: string, content: string) => `<p:grpSp><p:grpSpPr>${frame(box)}</p:grpSpPr>${content}</p:grpSp>`
  const linesOf = async (slide: string, more = {}) => (await markdownOf(pptx(slide, more))).split('\n').filter(Boolean)

  test.each([
    ['from top to bottom', shape('3', '0 200 90 50') + shape('1', '0 0 90 50') + shape('2', '0 100 90 50'), '1 2 3'],
    ['from left to right', shape('3', '200 5 90 50') + shape('1', '0 0 90 50') + shape('2', '100 9 90 40'), '1 2 3'],
    [
      'as in the file for columns in order',
      shape('1', '0 0 90 50') + shape('2', '0 60 90 50') + shape('3', '100 0 90 50') + shape('4', '100 60 90 50'),
      '1 2 3 4',
    ],
    [
      'as in the file for rows in order',
      shape('1', '0 0 90 50') + shape('2', '100 0 90 50') + shape('3', '0 60 90 50') + shape('4', '100 60 90 50'),
      '1 2 3 4',
    ],
    [
      'with groups together',
      shape('4', '300 0 90 50') +
        group('0 0 200 200', shape('3', '0 900 90 50') + shape('2', '0 700 90 50')) +
        shape('1', '0 -80 90 50'),
      '1 2 3 4',
    ],
    ['as in the file where shapes overlap', shape('1', '0 10 90 90') + shape('2', '0 0 90 90'), '1 2'],
  ])('are read %s', async (_, slide, order) => {
    expect((await linesOf(slide)).slice(1).join(' ')).toBe(order)
  })

  const layout = {
    'ppt/slides/_rels/slide1.xml.rels': relations({ r1: ['slideLayout', '../slideLayouts/l.xml'] }),
    'ppt/slideLayouts/l.xml': `<p:sldLayout><p:cSld><p:spTree>${shape('x', '100 100 90 50', '<p:ph type="body" idx="2"/>')}${shape('x', '0 100 90 50', '<p:ph idx="1"/>').replace('<p:txBody>', '<p:txBody><a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>')}</p:spTree></p:cSld></p:sldLayout>`,
    'ppt/slideLayouts/_rels/l.xml.rels': relations({ r1: ['slideMaster', '../slideMasters/m.xml'] }),
    'ppt/slideMasters/m.xml': `<p:sldMaster><p:cSld><p:spTree>${shape('x', '0 0 190 50', '<p:ph type="title"/>')}</p:spTree></p:cSld></p:sldMaster>`,
  }
  test('take positions and bullets of their layout', async () => {
    const slide =
      shape('c|d', '', '<p:ph type="body" idx="2"/>') +
      shape('a|b', '', '<p:ph idx="1"/>') +
      shape('Head|line', '', '<p:ph type="title"/>')
    expect(await linesOf(slide, layout)).toEqual(['## Head line', 'a', 'b', '- c', '- d'])
  })

  test('have the bullets and numbers that are set', async () => {
    const line = (text: string, bullet: string, more = '') =>
      `<a:p><a:pPr${more}>${bullet}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`
    const numbered =
      line('three', '<a:buAutoNum type="arabicPeriod" startAt="3"/>') +
      line('inner', '<a:buChar char="•"/>', ' lvl="1"') +
      line('four', '<a:buAutoNum type="arabicPeriod" startAt="3"/>')
    const slide = `<p:sp><p:txBody>${line('Intro', '<a:buNone/>')}${numbered}</p:txBody></p:sp>${shape('one|two', '', '<p:ph type="subTitle" idx="1"/>')}`
    expect(await linesOf(slide)).toEqual(['## Slide 1', 'Intro', '3. three', '   - inner', '4. four', 'one', 'two'])
  })

  test('have formulas, raised text, symbols and breaks in titles', async () => {
    const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
    const formula = `<mc:AlternateContent><mc:Choice Requires="a14"><a14:m><m:oMath><m:sSup><m:e>${r('x')}</m:e><m:sup>${r('2')}</m:sup></m:sSup></m:oMath></a14:m></mc:Choice><mc:Fallback><a:r><a:t>image</a:t></a:r></mc:Fallback></mc:AlternateContent>`
    const block = `<a:p><a14:m><m:oMathPara><m:oMath><m:f><m:num>${r('a')}</m:num><m:den>${r('b')}</m:den></m:f></m:oMath></m:oMathPara></a14:m></a:p>`
    const run = (text: string, properties: string) => `<a:r><a:rPr${properties}</a:rPr><a:t>${text}</a:t></a:r>`
    const text = `<a:p>${run('H', '>')}${run('2', ' baseline="-25000">')}${run('O ', '>')}${run('\u00e0', '><a:sym typeface="Wingdings"/>')}<a:r><a:t> </a:t></a:r>${formula}</a:p>`
    const title =
      '<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Two</a:t></a:r><a:br/><a:r><a:t>lines</a:t></a:r></a:p></p:txBody></p:sp>'
    const slide = `${title}<mc:AlternateContent><mc:Choice><p:sp><p:txBody>${text}${block}</p:txBody></p:sp></mc:Choice><mc:Fallback>${shape('picture')}</mc:Fallback></mc:AlternateContent>`
    expect(await markdownOf(pptx(slide))).toBe('## Two lines\n\nH<sub>2</sub>O → $x^2$\n\n$$\n\\frac{a}{b}\n$$')
  })
})
