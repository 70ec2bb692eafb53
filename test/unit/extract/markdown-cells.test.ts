import { describe, expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

const becomes = (html: string, markdown: string) => expect(markdownOf(html).trimEnd()).toBe(markdown)

/** Returns the text of a cell below a head. */
function cell(html: string): string {
  const lines = markdownOf(`<table><tr><th>Option</th><th>Value</th></tr><tr><td>a</td>${html}</tr></table>`)
    .trimEnd()
    .split('\n')
  expect(lines.slice(0, 2)).toEqual(['| Option | Value |', '| --- | --- |'])
  return lines.slice(2).join('\n').slice('| a | '.length, -' |'.length)
}

describe('cells', () => {
  test.each([
    ['<td><ol start=3><li>x<li>y</ol></td>', '3. x<br>4. y'],
    ['<td><ol reversed><li>x<li value=7>y<li></ol></td>', '3. x<br>7. y'],
    ['<td><ol type=i><li>x<ul><li>y</ul><li>z</ol></td>', 'i. x<br>- y<br>ii. z'],
    ['<td><ul><li><p>x</p></li><li><p>y</p><p>z</p></li></ul></td>', '- x<br>- y<br>z'],
    ['<td><p>any:</p><ol><li><div><p>x</p></div></li><li><pre>y</pre></li></ol></td>', 'any:<br>1. x<br>2. `y`'],
    ['<td><ul><li><p><img src="/p.gif" width=1 height=1></p></li><li>y</li></ul></td>', '- y'],
    ['<td><p>one</p><blockquote>two</blockquote><pre>x\ny</pre></td>', 'one<br>two<br>`x`<br>`y`'],
    ['<td><code>x<br>y</code></td>', '`x`<br>`y`'],
  ])('keep the lines of %s', (html, text) => {
    expect(cell(html)).toBe(text)
  })

  test.each([
    ['<td><mat-icon role="img" aria-label="Yes" class="mat-icon">check_circle</mat-icon></td>', 'Yes'],
    ['<td><x-icon name="check" aria-label="Yes"></x-icon></td>', 'Yes'],
    ['<td><img alt="Yes" src="data:image/svg+xml,%3Csvg/%3E"></td>', 'Yes'],
    ['<td><button aria-label="Yes"><svg aria-hidden="true"><path/></svg></button></td>', 'Yes'],
    ['<td><a href="/y" aria-label="Yes"><span class="icon"></span></a></td>', 'Yes'],
    ['<td>5 GB <button aria-label="More"><svg></svg></button></td>', '5 GB'],
    ['<td><span role="img" aria-label="rocket">🚀</span></td>', '🚀'],
    ['<td><span hidden><i aria-label="No"></i></span><svg hidden aria-label="No"></svg></td>', ''],
    ['<td><img alt="No" width="1" height="1" src="/p.gif"></td>', ''],
    ['<td><input type="checkbox" checked disabled></td>', '[x]'],
    ['<td><input type="checkbox" disabled> later</td>', '[ ] later'],
    ['<td><input type="checkbox" name="row"><input name="q" disabled></td>', ''],
  ])('show the label of %s', (html, text) => {
    expect(cell(html)).toBe(text)
  })
})

test('cells of one container with the names of their columns are a table', () => {
  const cell = (name: string, html: string) => `<div class="${name} even">${html}</div>`
  const heads = (...names: string[]) =>
    names.map((name, at) => cell(`table-header ${['col-first', 'col-second', 'col-last'].at(at)}`, name)).join('')
  const table = (html: string) => `<div class="summary-table">${html}</div>`
  becomes(
    table(
      `${heads('Type', 'Method', 'Description')}${cell('col-first', '<code>int</code>')}${cell('col-second', '<code>a()</code>')}${cell('col-last', '<div>One.</div>')}
      ${cell('col-first', '<code>long</code>')}${cell('col-second', '<code>b()</code>')}${cell('col-first', '<code>int</code>')}${cell('col-last', 'Three.')}`,
    ),
    '| Type | Method | Description |\n| --- | --- | --- |\n| `int` | `a()` | One. |\n| `long` | `b()` |  |\n| `int` |  | Three. |',
  )
  const named = `${cell('table-header col-first', 'Name')}${cell('table-header col-last', 'Text')}${cell('col-item-name', 'a')}${cell('col-last', 'b')}`
  becomes(table(named), '| Name | Text |\n| --- | --- |\n| a | b |')
  becomes(table(named.replace('col-last even', 'even')), 'Name\n\nText\n\na\n\nb')
})

test('lines of inline code stay apart', () => {
  becomes('<p>Run <code>a<br>b</code> or <code><span>c </span><br><br/> d</code>.</p>', 'Run `a`\\\n`b` or `c`\\\n`d`.')
  becomes('<h2>Use <code>a<br>b</code></h2>', '## Use `a` `b`')
})

test('hidden keys and labels in a line are omitted, and text that is shown on demand is not', () => {
  expect(cell('<td><span style="display: none">02024-05-01</span>1 May</td>')).toBe('1 May')
  const more = 'the rest of the text, which a button shows on demand'
  becomes(`<p>Read <span style="display:none">${more}</span></p>`, `Read ${more}`)
  becomes('<p>x is <span style="display: none"><math><mi>y</mi></math></span></p>', 'x is $y$')
})

describe('tables of elements with roles', () => {
  const rows = (cell: string) =>
    `<div role="rowgroup"><div role="row"><span role="columnheader">Name</span><span role="columnheader">Age</span></div></div>
    <div role="rowgroup"><div role="row">${cell}<span role="cell">7</span></div></div>`

  test.each(['table', 'grid', 'treegrid'])('become tables: %s', (role) => {
    becomes(
      `<div role="${role}">${rows('<span role="rowheader">Ann</span>')}</div>`,
      '| Name | Age |\n| --- | --- |\n| Ann | 7 |',
    )
  })

  test('keep text outside their cells, with the cells apart', () => {
    becomes(
      `<div role="table"><p>Ages</p>${rows('<span role="rowheader">Ann</span>')}</div>`,
      'Ages\n\nName Age\n\nAnn 7',
    )
    expect(
      markdownOf(
        '<div role="grid"><div role="row"><span role="cell">a</span></div><table><tr><td>b</td><td>c</td></tr><tr><td>d</td><td>e</td></tr></table></div>',
      ),
    ).toMatch(/^a\n\n[^]*\| d \| e \|/)
  })

  test('keep empty cells', () => {
    becomes(`<div role="table">${rows('<div role="gridcell"></div>')}</div>`, '| Name | Age |\n| --- | --- |\n|  | 7 |')
  })
})

describe('tables without headings that contain tables', () => {
  const inner = '<table><tr><td>low</td><td>1 m</td></tr><tr><td>high</td><td>4 m</td></tr></table>'

  test('keep their rows if these begin with labels', () => {
    becomes(
      `<table><tr><td>Bergen</td><td>${inner}</td></tr><tr><td>Oslo</td><td>none</td></tr></table>`,
      '|  |  |\n| --- | --- |\n| Bergen | low 1 m<br>high 4 m |\n| Oslo | none |',
    )
  })

  test.each([
    `<table><tr><td><a href="/">Home</a></td><td>${inner}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
    `<table><tr><td>Bergen</td><td>${inner}${'<p>A long text of the page. </p>'.repeat(20)}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
    `<table><tr><td>Bergen</td><td><h2>Tides</h2>${inner}</td></tr><tr><td>a</td><td>b</td></tr></table>`,
  ])('are layouts otherwise: %#', (html) => {
    expect(markdownOf(html)).toContain('| low | 1 m |')
  })
})

test('comments beside code, in a column without a heading, are a layout', () => {
  const rows = '<tr><td>Opens it.</td><td><pre>  open()\n  read()</pre></td></tr>'
  becomes(
    `<table><tr><th>tide.js</th><th></th></tr>${rows}</table>`,
    'tide.js\n\nOpens it.\n\n```\n  open()\n  read()\n```',
  )
  expect(markdownOf(`<table><tr><th>Text</th><th>Code</th></tr>${rows}</table>`)).toContain(
    '| Opens it. | `open()`<br>`read()` |',
  )
})

test('texts that only screen readers read out stay apart', () => {
  becomes('<div><span class="screen-reader-only">Note</span>Gauges drift</div>', 'Note Gauges drift')
})

test('icons are the titles of notes', () => {
  becomes(
    '<table><tr><td class="icon"><i class="fa icon-warning" title="Warning"></i></td><td><p>Hot</p></td></tr></table>',
    'Warning\n\nHot',
  )
  becomes('<p><i class="fa icon-share" title="Share"></i>Hot</p>', 'Hot')
})

test('authors of quotations stay apart from their text', () => {
  becomes('<blockquote><div><cite>Ann wrote:</cite>It leaks.</div></blockquote>', '> Ann wrote:\\\n> It leaks.')
  becomes('<p>See <cite>Tides</cite>, page 4.</p>', 'See Tides, page 4.')
})

test('listings of Enlighter have their language, and those of Crayon no numbers', () => {
  becomes('<pre class="EnlighterJSRAW" data-enlighter-language="json">{}</pre>', '```json\n{}\n```')
  becomes(
    '<table><tr><td class="crayon-nums"><div>1</div><div>2</div></td><td><div>a = 1</div><div>b = 2</div></td></tr></table>',
    '```\na = 1\nb = 2\n```',
  )
})

test('listings of MediaWiki have their language', () => {
  becomes(
    '<div class="mw-highlight mw-highlight-lang-lua"><pre><span class="kr">local</span> x</pre></div>',
    '```lua\nlocal x\n```',
  )
})

test('listings have no label of their language beside a button, and no buttons of SyntaxHighlighter', () => {
  const header =
    '<div class="example-header"><span class="language-name">js</span><button class="copy-icon"><span class="visually-hidden">Copy to Clipboard</span></button></div>'
  becomes(`<div class="code-example">${header}<pre class="brush: js"><code>f()</code></pre></div>`, '```js\nf()\n```')
  const bar = '<div class="toolbar"><span><a href="#" class="toolbar_item command_help help">?</a></span></div>'
  const row =
    '<tr><td class="gutter"><div class="line number1">1</div></td><td class="code"><div class="container"><div class="line number1"><code class="php plain">f();</code></div></div></td></tr>'
  becomes(`<div class="syntaxhighlighter php">${bar}<table><tbody>${row}</tbody></table></div>`, '```php\nf();\n```')
})

test('parameters have a gap behind "Optional", and one parameter of gtk-doc is a table', () => {
  becomes('<p><code class="tsd-tag">Optional</code><span>n</span>: number</p>', '`Optional` n: number')
  becomes(
    '<table class="informaltable"><tr><td><p>name</p></td><td><p>the name</p></td></tr></table>',
    '|  |  |\n| --- | --- |\n| name | the name |',
  )
})

test('rows of grids with fixed columns are whole, also where the page has their parts apart', () => {
  const row = (index: number, cells: readonly [number, string][], name = 'gridcell') =>
    `<div role="row" aria-rowindex="${index}">${cells.map(([column, text]) => `<div role="${name}" aria-colindex="${column}">${text}</div>`).join('')}</div>`
  const right =
    row(
      1,
      [
        [2, 'Age'],
        [3, 'Town'],
      ],
      'columnheader',
    ) +
    row(2, [
      [2, '30'],
      [3, 'Rome'],
    ])
  const left = row(1, [[1, 'Name']], 'columnheader') + row(2, [[1, 'Ann']])
  becomes(
    `<div role="grid"><div>${right}</div><div>${left}</div></div>`,
    '| Name | Age | Town |\n| --- | --- | --- |\n| Ann | 30 | Rome |',
  )
})
