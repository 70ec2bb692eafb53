/** Lists of editors become nested lists, and infoboxes tables. */
import { describe, expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

const read = (html: string) => markdownOf(html).trimEnd()

describe('Word', () => {
  const space = '<span style="font:7.0pt">&nbsp;&nbsp;&nbsp; </span>'
  const paragraph = (level: number, marker: string, text: string, list = 0) =>
    `<p class=MsoListParagraph style='margin-left:${36 * level}.0pt;mso-list:l${list} level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span style='mso-list:Ignore'>${marker}${space}</span></span><![endif]>${text}</p>\n`

  test('has paragraphs with markers, which are nested lists', () => {
    const html = paragraph(1, '·', 'First') + paragraph(2, 'o', 'Inner <b>text</b>') + paragraph(1, '§', 'Last')
    expect(read(`${html}<p class=MsoNormal>Text</p>`)).toBe('- First\n  - Inner **text**\n- Last\n\nText')
  })

  test('numbers lists with digits, letters and Roman numerals, from any number on', () => {
    const html =
      paragraph(1, '3.', 'Three') +
      paragraph(2, 'a.', 'Letter') +
      paragraph(3, 'i)', 'Roman') +
      paragraph(1, '4.', 'Four')
    expect(read(html)).toBe('3. Three\n   - a. Letter\n     - i. Roman\n4. Four')
  })

  test.each([
    ['c)', 'd)', '- c. One\n- d. Two'],
    ['iii.', 'iv.', '- iii. One\n- iv. Two'],
    ['IX.', 'X.', '- IX. One\n- X. Two'],
    ['(z)', '(aa)', '- z. One\n- aa. Two'],
    ['l.', 'm.', '- l. One\n- m. Two'],
    ['xl.', 'xli.', '- xl. One\n- xli. Two'],
  ])('numbers a list from %s on', (first, second, list) => {
    expect(read(paragraph(1, first, 'One') + paragraph(1, second, 'Two'))).toBe(list)
  })

  test('has no marker that is a capital O', () => {
    expect(read('<p class="MsoListParagraph">O&nbsp;Romeo</p>')).toBe('O\u00a0Romeo')
  })

  test('keeps numbers of several levels, and separate lists', () => {
    expect(read(paragraph(1, '1.2.', 'Part') + paragraph(1, '·', 'Other', 1))).toBe('- 1.2. Part\n\n* Other')
  })

  test('has markers as text where a program has removed the styles', () => {
    const html = `<p class="MsoListParagraph">·${space}One</p><p class="MsoListParagraph"><span>·</span>&nbsp; Two</p><p class="MsoListParagraph">Not · one</p>`
    expect(read(html)).toBe('- One\n- Two\n\nNot · one')
  })
})

describe('Quill', () => {
  test('has items of several kinds and levels in one list', () => {
    const html =
      '<ol><li data-list="bullet">A<span class="ql-ui" contenteditable="false"></span></li><li data-list="bullet" class="ql-indent-1">A1</li><li data-list="ordered" class="ql-indent-2">deep</li><li data-list="ordered">one</li><li data-list="bullet">B</li><li data-list="ordered">two</li><li data-list="checked">done</li><li data-list="unchecked" class="ql-indent-1">open</li></ol>'
    expect(read(html)).toBe('- A\n  - A1\n    1. deep\n\n1. one\n\n- B\n\n2. two\n\n- [x] done\n  - [ ] open')
  })

  test('has levels as names of items, and check marks as a name of the list', () => {
    expect(read('<ul><li>A</li><li class="ql-indent-1">A1</li><li>B</li></ul>')).toBe('- A\n  - A1\n- B')
    expect(read('<ul data-checked="true"><li>done</li></ul>')).toBe('- [x] done')
  })
})

test('Google Docs has a list for each run of items of a level', () => {
  const list = (level: number, ...items: string[]) =>
    `<ul class="lst-kix_ab1-${level} start">${items.map((item) => `<li>${item}</li>`).join('')}</ul>`
  expect(read(list(0, 'A') + list(1, 'A1', 'A2') + list(0, 'B'))).toBe('- A\n  - A1\n  - A2\n- B')
})

describe('Notion', () => {
  const bullet = (text: string) => `<ul class="bulleted-list"><li style="list-style-type:disc">${text}</li></ul>`
  const number = (start: number, text: string, type = '1') =>
    `<ol type="${type}" class="numbered-list" start="${start}"><li>${text}</li></ol>`

  test('has a list for each item', () => {
    expect(read(bullet(`A${bullet('A1')}${bullet('A2')}`) + bullet('B'))).toBe('- A\n  - A1\n  - A2\n- B')
    const inner = number(1, 'x', 'a') + number(2, 'y', 'a')
    expect(read(number(1, 'one') + number(2, `two${inner}`) + number(3, 'three'))).toBe(
      '1. one\n2. two\n   - a. x\n   - b. y\n3. three',
    )
  })

  test('begins another list with another name or number', () => {
    expect(read(number(1, 'a') + number(1, 'b'))).toBe('1. a\n\n1) b')
    expect(read('<ul class="tasks"><li>a</li></ul><ul class="links"><li>b</li></ul>')).toBe('- a\n\n* b')
  })
})

describe('an infobox of Fandom', () => {
  const label = (name: string, value: string) =>
    `<div class="pi-item pi-data"><h3 class="pi-data-label">${name}</h3><div class="pi-data-value">${value}</div></div>`

  test('is a table with a row for each label', () => {
    const html = `<aside class="portable-infobox"><h2 class="pi-item pi-title">Ann</h2><section class="pi-item pi-group"><h2 class="pi-item pi-header">Life</h2>${label('Born', '1901')}${label('Allies', '<ul><li>Bob</li><li>Cid</li></ul>')}</section></aside>`
    expect(read(html)).toBe(
      '## Ann\n\n|  |  |\n| --- | --- |\n| Life |  |\n| Born | 1901 |\n| Allies | - Bob<br>- Cid |',
    )
  })

  test('has groups of labels side by side, and text that has no label', () => {
    const html = `<aside class="portable-infobox"><section class="pi-item pi-group"><section class="pi-item pi-smart-group"><section class="pi-smart-group-head"><h3 class="pi-smart-data-label">HP</h3><h3 class="pi-smart-data-label">MP</h3></section><section class="pi-smart-group-body"><div class="pi-smart-data-value">1</div><div class="pi-smart-data-value">2</div></section></section></section><nav class="pi-navigation">See also</nav></aside>`
    expect(read(html)).toBe('| HP | MP |\n| --- | --- |\n| 1 | 2 |\n\nSee also')
  })
})
