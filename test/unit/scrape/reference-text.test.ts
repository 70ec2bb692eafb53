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

describe('the headline', () => {
  const book = (title: string, heading: string) =>
    `<html><head><title>${title}</title></head><body><p>${long}</p><h2 class="title">GAP ${heading}</h2><p>${long}</p></body></html>`

  test('is the heading that the title repeats when there is no h1', () => {
    expect(read(book('GAP 5.3. Generated Columns', '5.3. Generated Columns'), /GAP 5/)).toMatch(
      /^## GAP 5\.3\. Generated/,
    )
  })

  test('is not restored when it is unlikely to be content', () => {
    const page = book('GAP 5.3. Generated Columns', '5.3. Generated Columns')
    expect(read(page, /GAP 5/, false)).not.toContain('GAP')
  })

  test('is not a small part of the title, nor hidden', () => {
    expect(read(book('GAP all about the columns that a table has', 'all'), /GAP all$/)).not.toContain('#')
    const hidden = `<html><head><title>GAP Name</title></head><body><h1 hidden>GAP Name</h1><p>${long}</p></body></html>`
    expect(read(hidden, /GAP/)).not.toContain('#')
  })
})
