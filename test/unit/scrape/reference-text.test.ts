import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { prune } from '../../../src/engine/extract/main-content/prune.ts'
import { toMarkdown } from '../../../src/engine/extract/markdown.ts'
import { type ElementNode, isElement, type TextNode } from '../../../src/engine/extract/tree.ts'
import { withoutPageMenus } from '../../../src/engine/scrape/content/page-menus.ts'
import { wholeReference } from '../../../src/engine/scrape/content/reference-text.ts'
import { withTitle } from '../../../src/engine/scrape/content/with-title.ts'

const baseUrl = 'https://site.example/'

function* texts(element: ElementNode): Generator<TextNode> {
  for (const child of element.children) {
    if (isElement(child)) yield* texts(child)
    else yield child
  }
}

/** Returns the Markdown after classification has dropped every text that matches. */
function read(html: string, dropped: RegExp, isLikely = true): string {
  const { root } = treeFromHtml(html, baseUrl)
  const content = prune(root, [{ nodes: [...texts(root)].filter(({ text }) => !dropped.test(text)) }])
  const text = wholeReference(root, withoutPageMenus(content, root))
  return toMarkdown({ root: withTitle(text, root, () => isLikely), baseUrl })
}

const long = 'A sentence that says at some length what the function does with what it is given. '.repeat(4)
const manual = (
  head: string,
  frame: (text: string) => string = (text) => text,
) => `<html><head><title>open — files</title>${head}</head><body>
  <nav>MENU of the site</nav>${frame(`<main><h1>open</h1><nav>MENU here</nav><div class="toc"><a href="#a">MENU a</a></div>
  <p>${long}</p><p>GAP For example:</p><pre id="a">GAP open("x")</pre><dl><dt>GAP mode</dt><dd>${long}</dd></dl>
  <div class="pagination"><a href="/1">MENU one</a> <a href="/2">MENU two</a></div><p>${long}</p>
  <div class="newsletter"><p>MENU Sign up</p></div><p>GAP New in version 2.</p></main>`)}<footer>MENU rights</footer></body></html>`
const sphinx = '<meta name="generator" content="Sphinx 7.2">'

describe('a manual', () => {
  test('of a documentation tool has no gaps, and no boilerplate', () => {
    const markdown = read(manual(sphinx), /GAP|MENU/)
    expect(markdown.match(/GAP/g)).toHaveLength(4)
    expect(markdown).toContain('GAP For example:\n\n```\nGAP open("x")\n```')
    expect(markdown).not.toContain('MENU')
  })

  test('does not repeat its table of contents, even if it was classified as content', () => {
    expect(read(manual(sphinx), /GAP/)).not.toContain('MENU a')
    const book = manual(sphinx).replace('href="#a"', 'href="a.html"')
    expect(read(book, /GAP|MENU/)).toContain('MENU a')
  })

  test('does not repeat a table of contents whose links have escapes', () => {
    const contents = '<ul id="toc-list"><li><a href="#%24%2CCode">MENU $(code)</a></li></ul>'
    const frame = (text: string) => text.replace('<pre id="a"', `${contents}<pre id="$,Code"`)
    expect(read(manual(sphinx, frame), /GAP/)).not.toContain('MENU $')
    const other = (text: string) => frame(text).replace('%24%2C', '%E4%2C')
    expect(read(manual(sphinx, other), /GAP/)).toContain('MENU $')
  })

  test('is recognized by the marks of tools', () => {
    const frame = (text: string) => `<div class="documentwrapper">${text}</div>`
    expect(read(manual('', frame), /GAP|MENU/)).toContain('GAP New in version 2.')
  })

  test('keeps lists of links in its text, and not those around it', () => {
    const list =
      '<ul><li><a href="a.html">GAP first chapter</a></li><li><a href="b.html">GAP second chapter</a></li></ul>'
    const sidebar = list.replaceAll('GAP', 'MENU')
    const core = `<div id="apicontent"><p>${long}</p>${list}<p>${long}</p></div>`
    const page = `<html><head>${sphinx}</head><body><main><h1>open</h1><div id="column">${sidebar}</div>${core}</main></body></html>`
    const markdown = read(page, /GAP|MENU/)
    expect(markdown.match(/GAP/g)).toHaveLength(2)
    expect(markdown).not.toContain('MENU')
  })

  test('keeps descriptions that are named comments, and no comments of readers', () => {
    const page = `<html><head>${sphinx}</head><body><main><p>${long}</p><div class="tsd-comment"><p>GAP description</p></div><p>${long}</p><div class="comments"><div class="comment">MENU thanks</div></div></main></body></html>`
    const markdown = read(page, /GAP|MENU/)
    expect(markdown).toContain('GAP description')
    expect(markdown).not.toContain('MENU')
  })

  test.each(['tsd-panel', 'tsd-signature'])('is recognized by names of TypeDoc: %s', (name) => {
    const frame = (text: string) => `<div class="${name}">${text}</div>`
    expect(read(manual('', frame), /GAP|MENU/)).toContain('GAP New in version 2.')
  })

  test.each(['package-header', 'mbrsel'])('is recognized by ids of Haddock and Scaladoc: %s', (id) => {
    const frame = (text: string) => `<div id="${id}"></div>${text}`
    expect(read(manual('', frame), /GAP|MENU/)).toContain('GAP New in version 2.')
  })

  const below = (statement: string) => (text: string) =>
    `<div>${text.replace('</main>', '<p style="display: none">MENU search</p></main>')}<div><i>MENU ${statement}</i></div></div>`

  test.each(['generated by LDoc 1.4.6', 'API documentation, generated with Tide', 'Built using ExDoc'])(
    'is recognized by the statement below its text: %s',
    (statement) => {
      const markdown = read(manual('', below(statement)), /GAP|MENU/)
      expect(markdown.match(/GAP/g)).toHaveLength(4)
      expect(markdown).not.toContain('MENU')
    },
  )

  test.each([
    ['the style sheet', '<link rel="stylesheet" href="../tide_doc.css">'],
    ['a script', '<script src="/js/tidedoc.js?v=2"></script>'],
    ['the title', '<title>Gauge class - Tide API</title>'],
    ['the title', '<title>Gauge (tide 2.4 API)</title>'],
  ])('is recognized by %s of a page with code: %s', (_, head) => {
    const codes = (text: string) => text.replace('</h1>', ' of <code>a</code>, <code>b</code>, <code>c</code></h1>')
    const markdown = read(manual(head, codes), /GAP|MENU/)
    expect(markdown.match(/GAP/g)).toHaveLength(4)
    expect(markdown).not.toContain('MENU')
  })

  test.each(['<script src="/js/document.js"></script>', '<title>How we built our API</title>'])(
    'is not recognized by other files and titles: %s',
    (head) => expect(read(manual(head), /GAP|MENU/)).not.toContain('GAP'),
  )

  test('without code is recognized by the statement of a known tool', () => {
    const page = (statement: string) =>
      `<html><body><div id="content"><h1>Tide</h1><h2>GAP Defined here</h2><p>GAP <b>Classes:</b> <a href="g.html">Gauge</a></p><p>${long}</p></div><div>${statement}</div></body></html>`
    expect(read(page('Generated on Sat Feb 4 2023 by <a href="y">yard</a> 0.9'), /GAP/).match(/GAP/g)).toHaveLength(2)
    expect(read(page('Generated on Sat Feb 4 2023 by <a href="y">tide</a> 0.9'), /GAP/)).not.toContain('GAP')
  })

  test('keeps sentences about generated pages in its text', () => {
    const sentence = '<p>GAP Click <a href="x.html">here</a> for the page that is generated by Doxygen.</p>'
    const frame = (text: string) =>
      below('generated by Doxygen 1.9')(text.replace('<pre', `${sentence}<p>${long}</p><pre`))
    const markdown = read(manual('', frame), /GAP|MENU/)
    expect(markdown).toContain('for the page that is generated by Doxygen.')
    expect(markdown).not.toContain('MENU')
  })

  test('has no results of a search', () => {
    const search = '<div class="search-results"><p>MENU No results</p></div>'
    expect(
      read(
        manual(sphinx, (text) => text.replace('<pre', `${search}<pre`)),
        /GAP|MENU/,
      ),
    ).not.toContain('MENU')
  })

  test('that states its tool is restored from a quarter of its text', () => {
    const text = `<html><body><div id="content"><h1>Tide</h1><p>${long}</p><p>GAP ${long}${long}</p></div><div id="footer">Generated by Doxygen</div></body></html>`
    expect(read(text, /GAP/)).toContain('GAP')
    expect(read(text.replace('Generated', 'Typed'), /GAP/)).not.toContain('GAP')
  })

  test('keeps all rows of links below a subheading', () => {
    const rows = ['open', 'read', 'close'].map(
      (name) => `<div class="row"><a href="#${name}">GAP ${name}(file)</a></div>`,
    )
    const page = `<html><head><title>open</title>${sphinx}</head><body><main><section id="m"><h1>open</h1><p>${long}</p></section><section><div class="summary"><h2>Functions</h2>${rows.join('')}</div><div>${rows.join('').replaceAll('GAP', 'MENU')}</div></section></main></body></html>`
    const markdown = read(page, /GAP|MENU/)
    expect(markdown.match(/GAP/g)).toHaveLength(3)
    expect(markdown).not.toContain('MENU')
  })

  test('keeps tables of related parts, and an h2 as its headline', () => {
    const related =
      '<table class="related"><tr><th>GAP Related modules</th></tr><tr><td><a href="m">GAP mod_tide</a></td></tr></table>'
    const page = `<html><head><title>Gauge</title>${sphinx}</head><body><div class="header"><div>GAP Package: tide</div><h2 class="title">GAP Class Gauge</h2></div><div class="text">${related}<p>${long}</p><h3>Use</h3><p>${long}</p></div></body></html>`
    const markdown = read(page, /GAP|MENU/)
    expect(markdown).toMatch(/^GAP Package: tide\n\n## GAP Class Gauge\n\n/)
    expect(markdown).toContain('GAP mod_tide')
  })

  test('is not recognized by other statements', () => {
    expect(read(manual('', below('Built with care')), /GAP|MENU/)).not.toContain('GAP')
    const above = `<p>Generated by hand</p><p>${long.repeat(2)}</p>`
    expect(
      read(
        manual('', (text) => text.replace('<pre', `${above}<pre`)),
        /GAP|MENU/,
      ),
    ).not.toContain('GAP')
  })

  test('is unchanged when hardly any of it was classified as content', () => {
    expect(read(manual(sphinx), /GAP|MENU|sentence/)).not.toContain('GAP')
  })

  test('has the headline and the lines below it before its text', () => {
    const page = `<html><head><title>git-x(1)</title>${sphinx}</head><body><div id="header"><h1>GAP git-x(1) Manual</h1><h2>GAP NAME</h2><p>GAP git-x - does x</p></div><div id="content"><p>${long}</p><p>${long}</p></div><div id="footer">MENU Last updated</div></body></html>`
    const markdown = read(page, /GAP|MENU/)
    expect(markdown).toMatch(/^# GAP git-x\(1\) Manual\n\n## GAP NAME\n\nGAP git-x - does x\n\nA sentence/)
    expect(markdown).not.toContain('MENU')
  })

  test('keeps its table of contents when it has nothing else', () => {
    const links = Array.from(
      { length: 30 },
      (_, at) => `<dt><a href="/${at}">GAP ${at}. A chapter with a name</a></dt>`,
    )
    const page = `<html><head><title>All chapters</title>${sphinx}</head><body><main><h1>All chapters</h1><p>${long}</p><div class="toc"><dl class="toc">${links.join('')}</dl></div></main></body></html>`
    expect(read(page, /GAP/).match(/GAP/g)).toHaveLength(30)
  })
})

describe('a page of no known tool', () => {
  const code = Array.from({ length: 12 }, (_, at) => `<p>${long} Set <code>option${at}</code> to <code>on</code>.</p>`)
  const page = (body: string) =>
    `<html><head><title>How to set it</title></head><body><article><h1>How to set it</h1>${body}</article></body></html>`

  test('is a manual when it is full of code and nearly all of it was classified as content', () => {
    expect(read(page(`${code.join('')}<pre>GAP set all</pre>`), /GAP/)).toContain('GAP set all')
  })

  test('is unchanged when it is prose', () => {
    expect(read(page(`<p>${long}</p>`.repeat(12) + '<p>GAP Buy now</p>'), /GAP/)).not.toContain('GAP')
  })
})

describe('the navigation of a site', () => {
  const list =
    '<ul><li><a href="a.html">MENU first module</a></li><li><a href="b.html">MENU second module</a></li></ul>'
  const page = (body: string) => `<html><head><title>Tides</title></head><body>${body}</body></html>`
  const stub = '<div id="main"><h1>Tides</h1><p>Objects that are shared across the whole application.</p></div>'

  test.each([`<nav>${list}</nav>`, `<div role="navigation">${list}</div>`, `<div id="navigation">${list}</div>`])(
    'is omitted beside the text of a page: %s',
    (menu) => {
      expect(read(page(stub + menu), /GAP/)).not.toContain('MENU')
    },
  )

  test('is omitted beside a headline alone if a tool generated the page', () => {
    const menu = `<div id="main"><h1>Module: tides</h1></div><nav>${list}</nav>`
    expect(read(page(menu), /GAP/)).toContain('MENU')
    expect(read(page(`${menu}<footer>Documentation generated by JSDoc 4.0</footer>`), /GAP|footer/)).not.toContain(
      'MENU',
    )
  })

  test.each([
    '<div class="page-footer"><p>Copyright 2024 Tide Ltd.</p></div>',
    '<footer>© Tide Ltd.</footer>',
    '<div id="footer">Generated by yard 0.9</div>',
  ])('and its footer, which states its rights or its tool, are omitted beside text: %s', (footer) => {
    expect(read(page(stub + footer), /GAP/)).not.toMatch(/Tide Ltd|yard/)
  })

  test('and its footer are kept if there is nothing else', () => {
    expect(read(page('<h1>©</h1><footer>© Tide Ltd.</footer>'), /GAP/)).toContain('Tide Ltd.')
  })

  test('is kept as the content of a page, and within it', () => {
    expect(read(page(`<h1>Modules</h1><nav>${list}</nav>`), /GAP/)).toContain('MENU')
    expect(read(page(`<main>${stub}<nav>${list}</nav></main>`), /GAP/)).toContain('MENU')
  })
})

test('links of headings to themselves, which only screen readers read out, are omitted', () => {
  const heading =
    '<h2 id="all">All <a href="#all"><i aria-hidden="true"></i><span class="sr-only">Link to this section</span></a></h2>'
  expect(read(`<body><h1>Tides</h1><p>${long}</p>${heading}<p>${long}</p></body>`, /GAP/)).toMatch(/^## All$/m)
})

describe('the headline', () => {
  const book = (title: string, heading: string) =>
    `<html><head><title>${title}</title></head><body><p>${long}</p><h2 class="title">GAP ${heading}</h2><p>${long}</p></body></html>`

  test('is the heading that the title repeats when there is no h1', () => {
    expect(read(book('GAP 5.3. Generated Columns', '5.3. Generated Columns'), /GAP 5/)).toMatch(
      /^## GAP 5\.3\. Generated/,
    )
  })

  test('is the one with the words of the title, above text with headings of its own', () => {
    const page = `<html><head><title>Grid (tide-ui.Tide.Grid)</title></head><body><header><h1>Module <code>Tide.Grid</code></h1></header><p>${long}</p><h1>Creating a grid</h1><p>${long}</p></body></html>`
    expect(read(page, /Module|Tide\.Grid/)).toMatch(/^# Module `Tide\.Grid`/)
  })

  test('is not the name of the site above an article with a headline', () => {
    const page = `<html><head><title>Tidelog</title></head><body><h1>GAP Tidelog</h1><article><h1>Creating a grid</h1><p>${long}</p></article></body></html>`
    expect(read(page, /GAP/)).not.toContain('GAP')
  })

  test('is not restored when it is unlikely to be content', () => {
    const page = book('GAP 5.3. Generated Columns', '5.3. Generated Columns')
    expect(read(page, /GAP 5/, false)).not.toContain('GAP')
  })

  test('is the h1 that is the title of the page, however unlikely and far above the text', () => {
    const page = (title: string, names = '') =>
      `<html><head><title>${title}</title>${names}</head><body><h1>GAP Plum jam</h1><p>GAP ${long}</p><p>${long}</p></body></html>`
    expect(read(page('GAP Plum jam - Kitchen'), /GAP/, false)).toMatch(/^# GAP Plum jam/)
    expect(read(page('Recipe: GAP plum jam'), /GAP/, false)).toMatch(/^# GAP Plum jam/)
    const site = '<meta property="og:site_name" content="GAP Plum jam">'
    expect(read(page('GAP Plum jam: a cake with cream', site), /GAP/, false)).not.toContain('GAP')
  })

  test('is the h1, not a heading of the text that begins the title', () => {
    const page = `<html><head><title>Plum Jam (Ideas and Tips) - Kitchen</title></head><body>
      <h1>GAP Plum Jam (Ideas and Tips)</h1><p>Intro.</p><h2>PLUM JAM</h2><p>${long}</p></body></html>`
    expect(read(page.replace('GAP ', ''), /Ideas/, false)).toMatch(/^# Plum Jam \(Ideas and Tips\)\n/)
    expect(read(page.replace(/<h1>.*<\/h1>/, ''), /Ideas/, false)).toMatch(/^Intro/)
  })

  test('is not repeated above text that has it below the names of the manual', () => {
    const page = (above: string) =>
      `<html><head><title>Tide: Reading a gauge</title></head><body>${above}<h2>Reading a gauge</h2><p>${long}</p></body></html>`
    for (const above of ['<table><tr><td>gauge</td><td>Tide manual</td></tr></table>', '<h2>Tide interface</h2>'])
      expect(read(page(above), /GAP/).match(/Reading a gauge/g)).toHaveLength(1)
  })

  test('is restored above a text with a card of the same name', () => {
    const page = `<html><head><title>Plum Jam</title></head><body><h1>Plum Jam</h1><p>${long}</p><h2>Plum Jam</h2><p>Boil.</p></body></html>`
    const dropped = page.replace('<h1>Plum Jam', '<h1><b>Plum</b> Jam')
    expect(read(dropped, /^(?:Plum| Jam)$/)).toMatch(/^# Plum Jam\n[^]+^## Plum Jam$/m)
  })

  test('is one of two copies next to each other', () => {
    const page = `<html><head>${sphinx}<title>Reading a gauge</title></head><body><div class="bar"><h1>Reading a gauge</h1></div><div class="text"><h1>Reading a gauge</h1><p>${long}</p></div></body></html>`
    expect(read(page, /GAP/)).toMatch(/^# Reading a gauge\n\nA sentence/)
  })

  test('is not the name of the manual, which follows that of the section in the title', () => {
    const page = (tag: string) =>
      `<html><head><title>Gauges — Tide 3.2 documentation</title></head><body><h1>Tide 3.2 documentation</h1><${tag}>Gauges</${tag}><p>${long}</p></body></html>`
    expect(read(page('h1'), /GAP/)).toMatch(/^# Gauges/)
    expect(read(page('h2'), /documentation/)).toMatch(/^## Gauges/)
  })

  test('may have no spaces where styles draw marks', () => {
    const page = `<html><head><title>Tide.Gauge</title></head><body><h1><a href="i.html">Tide</a><span class="sep"></span>Gauge</h1><h3>Class</h3><p>${long}</p></body></html>`
    expect(read(page, /^(?:Tide|Gauge)$/)).toMatch(/^# \[Tide\]\(\S+\) Gauge\n/)
  })

  test('is not a small part of the title, nor hidden', () => {
    expect(read(book('GAP all about the columns that a table has', 'all'), /GAP all$/)).not.toContain('#')
    const hidden = `<html><head><title>GAP Name</title></head><body><h1 hidden>GAP Name</h1><p>${long}</p></body></html>`
    expect(read(hidden, /GAP/)).not.toContain('#')
  })
})
