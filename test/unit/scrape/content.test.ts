import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { needsBrowser } from '../../../src/engine/render/decide/page-reason.ts'
import { cleanHtml } from '../../../src/engine/scrape/formats/clean-html.ts'
import { contrast, hexOf, isNeutral, parseColour } from '../../../src/engine/scrape/formats/colour.ts'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'
import { imagesOf, linksOf } from '../../../src/engine/scrape/formats/links.ts'
import { metadataOf } from '../../../src/engine/scrape/formats/metadata.ts'
import { summarise } from '../../../src/engine/scrape/formats/summary.ts'

const tree = (html: string) => treeFromHtml(html, 'https://x.test/a/')
const clean = (html: string) => cleanHtml(tree(html), { dropInlineImages: true })

describe('clean HTML', () => {
  test('has no scripts, styles, handlers, templates or comments', () => {
    const html = clean(
      '<p onclick="x" class="a">A<!-- c --><script>1</script><style>p{}</style></p><template><b>t</b></template><noscript>n</noscript><link rel="stylesheet" href="x">',
    )
    expect(html).toContain('<p class="a">A</p>')
    expect(html).not.toMatch(/onclick|<!-- c|script|style|template|stylesheet/)
  })
  test('has absolute URLs, and no script URLs', () => {
    expect(
      clean('<a href="b">1</a><a href="#c">2</a><a href=" javascript:x()">3</a><form action="/f"></form>'),
    ).toContain('<a href="https://x.test/a/b">1</a><a href="#c">2</a><a>3</a><form action="https://x.test/f"></form>')
  })
  test('is stable when it is parsed again', () => {
    const text = '<p title="&quot;&lt;&amp;">a &lt; b &amp;amp; c</p><pre>\n\n x</pre>'
    const once = clean(text)
    expect(cleanHtml(tree(once), { dropInlineImages: true })).toBe(once)
  })
})

describe('links and images', () => {
  test('are listed in order, each once, named by text, image or label', () => {
    const links = linksOf(
      tree(
        '<a href="1"><img alt="One" src="i"></a><a href="2" aria-label="Two"></a><a href="1">First</a><a href="mailto:a@b">m</a><a href="tel:1">t</a><a>none</a><a href="http://[">bad</a>',
      ),
    )
    expect(links).toEqual([
      { href: 'https://x.test/a/1', text: 'One' },
      { href: 'https://x.test/a/2', text: 'Two' },
    ])
  })
  test('are found in drawings, and relative to the scheme of the page', () => {
    const links = linksOf(
      tree(
        '<svg><a xlink:href="/map"><text>Map</text></a><a href="/new" xlink:href="/old">New</a></svg><a xlink:href="/no">No</a><a href="https:/two">Two</a><a href="http:/one">One</a>',
      ),
    )
    expect(links.map(({ href }) => href)).toEqual([
      'https://x.test/map',
      'https://x.test/new',
      'https://x.test/two',
      'http://one/',
    ])
  })
  test('have the best source, without tracking pixels and inline data', () => {
    const images = imagesOf(
      tree(
        '<img src="s.png" srcset="s.png 1x, l.png 2x" alt="A"><img src="p.gif" width="1" height="1"><img src="data:image/png;base64,x"><picture><source srcset="w.webp 100w"><img src="f.jpg"></picture>',
      ),
    )
    expect(images.map(({ src }) => src)).toEqual(['https://x.test/a/l.png', 'https://x.test/a/f.jpg'])
  })
})

describe('metadata', () => {
  test('is read from meta, then JSON-LD, then the page', () => {
    const facts = metadataOf(
      tree(
        '<html lang="de"><title> A  title </title><meta property="og:description" content="D"><script type="application/ld+json">{"@graph":[{"@type":"NewsArticle","author":[{"name":"Ada"},{"name":"Bo"}],"datePublished":"2026-01-02"}]}</script><link rel="shortcut icon" href="/f.ico"><meta name="robots" content="noindex">',
      ),
    )
    expect(facts).toMatchObject({
      title: 'A title',
      description: 'D',
      author: 'Ada, Bo',
      published_time: '2026-01-02',
      language: 'de',
      favicon: 'https://x.test/f.ico',
      robots: 'noindex',
    })
  })
  test('omits missing values', () => {
    expect(metadataOf(tree('<p>x'))).toEqual({})
  })
  test('ignores invalid JSON-LD', () => {
    expect(metadataOf(tree('<title>T</title><script type="application/ld+json">{"@type":</script>'))).toEqual({
      title: 'T',
    })
  })
})

describe('the extractive summary', () => {
  const text = [
    'Deltas grow where rivers slow down.',
    'The sand settles first.',
    'Deltas are home to millions of people who farm there.',
    'My cat is grey.',
    'Rivers feed deltas with sand each spring.',
    'Nobody was asked.',
  ]
  test('has two or three sentences of the text, in order', () => {
    const summary = summarise(
      tree(`<h1>Deltas</h1><p>${text.join(' ')}</p><pre>code.</pre>`).root,
      'How deltas grow',
      'Rivers and sand',
      'en',
    )
    const chosen = text.filter((sentence) => summary.includes(sentence))
    expect(chosen.join(' ')).toBe(summary)
    expect(chosen.length).toBe(3)
    expect(summary).not.toContain('cat')
  })
  test('is the description when there are no sentences', () => {
    expect(summarise(tree('<p>word</p>').root, 'T', 'What it is about', 'en')).toBe('What it is about')
  })
  test('recognizes the ends of sentences in other scripts', () => {
    const summary = summarise(
      tree('<p>川は山から海へ砂を運びます。砂は河口にたまります。人々はそこで米を作ります。猫がいます。</p>').root,
      '',
      '',
      'ja',
    )
    expect(summary.match(/。/g)!.length).toBeLessThanOrEqual(3)
  })
})

describe('colours', () => {
  test('are parsed and compared', () => {
    expect(hexOf(parseColour('rgb(228, 0, 43)')!)).toBe('#E4002B')
    expect(hexOf(parseColour('#abc')!)).toBe('#AABBCC')
    expect(parseColour('rgba(0, 0, 0, 0)')!.alpha).toBe(0)
    expect(parseColour('inherit')).toBeUndefined()
    expect(isNeutral(parseColour('#777777')!)).toBe(true)
    expect(contrast(parseColour('#000')!, parseColour('#fff')!)).toBeCloseTo(21)
  })
})

const piece = fc.oneof(
  fc.constantFrom(
    '<p>',
    '</p>',
    '<div id="root">',
    '<table><tr><td>',
    '</table>',
    '<a href="',
    '">',
    '<ul><li>',
    '<script>',
    '</script',
    '<!--',
    '-->',
    '<![CDATA[',
    '&#x',
    '&amp',
    '<svg><p>',
    '<plaintext>',
    '<base href="//">',
    '<meta charset=',
    '\u0000',
    '<pre><code>',
    '<img srcset=", , ">',
    '<td><th>',
    '</html>',
    '<<',
    '<a<b',
    '<math><mi>',
    '<select><option>',
  ),
  fc.string({ maxLength: 12 }),
)

describe('malformed HTML', () => {
  test('is parsed, classified, cleaned and converted without errors, deterministically', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const html = pieces.join('')
        const page = tree(html)
        needsBrowser(page.root)
        metadataOf(page)
        linksOf(page)
        imagesOf(page)
        cleanHtml(page, { dropInlineImages: true })
        summarise(page.root, '', '', '')
        const wishes = { url: 'https://x.test/', onlyMain: true, headline: false }
        const [once, twice] = await Promise.all([1, 2].map(() => extractMarkdown(Buffer.from(html), wishes)))
        expect(once).toEqual(twice)
      }),
      { numRuns: 300 },
    )
  })

  test('may be nested deeply', async () => {
    const deep = `${'<div><b>'.repeat(30_000)}text`
    const wishes = { url: 'https://x.test/', onlyMain: true, headline: false }
    expect((await extractMarkdown(Buffer.from(deep), wishes)).markdown).toContain('text')
  })
})
