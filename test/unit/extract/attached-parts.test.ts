/** Parts of an article that are not paragraphs: kept alone and at its end, whatever its length. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { elementsOf, visibleText } from '../../../src/engine/extract/tree.ts'

const model = await shippedModel()

/** HTML of every part, and a text in it that must be kept. */
const parts: Readonly<Record<string, readonly [html: string, text: string]>> = {
  table: [
    '<table><tr><th>Line</th><th>Departure</th></tr><tr><td>Red</td><td>08:15</td></tr><tr><td>Blue</td><td>09:40</td></tr></table>',
    '09:40',
  ],
  code: ['<pre><code>gate open --river north\ngate status</code></pre>', 'gate status'],
  list: ['<ul><li>Bring a torch</li><li>Wear boots</li><li>Take water</li></ul>', 'Take water'],
  'numbered list': ['<ol><li>Turn left</li><li>Cross the yard</li><li>Ring twice</li></ol>', 'Ring twice'],
  figure: ['<figure><img src="/b.jpg" alt=""><figcaption>The bridge in 1931</figcaption></figure>', 'in 1931'],
  quote: ['<blockquote><p>We never heard it fall.</p></blockquote>', 'never heard'],
  'definition list': ['<dl><dt>Span</dt><dd>140 m</dd><dt>Deck</dt><dd>Steel</dd></dl>', '140 m'],
  details: ['<details><summary>Show the answer</summary><p>Forty-two metres.</p></details>', 'Forty-two'],
  footnotes: [
    '<section class="footnotes"><ol><li id="n1"><p>City archive, box 12. <a href="#r1">↩</a></p></li></ol></section>',
    'City archive',
  ],
  tabs: [
    `<div class="tabs"><ul role="tablist"><li role="tab">npm</li><li role="tab">yarn</li></ul>
    <div role="tabpanel"><pre><code>npm install gate</code></pre></div><div role="tabpanel"><pre><code>yarn add gate</code></pre></div></div>`,
    'yarn add gate',
  ],
  'note with a title': [
    '<div class="admonition note"><p class="admonition-title">Careful</p><p>Gauges drift.</p></div>',
    'Careful Gauges drift.',
  ],
  'note with an icon': [
    '<div class="theme-admonition alert alert--info"><div class="heading"><span class="icon"><svg></svg></span>info</div><div><p>Gauges drift.</p></div></div>',
    'info Gauges drift.',
  ],
  'note in a table': [
    '<div class="admonitionblock tip"><table><tr><td class="icon"><div class="title">Tip</div></td><td>Gauges drift.</td></tr></table></div>',
    'Tip Gauges drift.',
  ],
  'note with the role of an alert': [
    '<div class="alert alert-warning" role="alert"><strong>Heads up!</strong> Gauges drift.</div>',
    'Heads up! Gauges drift.',
  ],
}

const sentences = [
  'The bridge over the northern arm of the river was closed on Monday morning, after engineers had found cracks in two of its bearings, the city said.',
  'Traffic is led around the old town until the repair is finished, which may take until the end of March, depending on the weather and on the delivery of steel.',
  'Residents had complained about noise from the joints for years, and a report of the works department had called for an inspection as early as last autumn.',
  'A temporary ferry takes pedestrians across every ten minutes, and cyclists may use the railway crossing a mile upstream until the works have ended.',
]

/** Paragraphs with at least this number of words, none twice. */
function prose(words: number): string {
  let html = ''
  for (let at = 0, count = 0; count < words; at++) {
    const text = sentences[at % sentences.length]!.replace('of', `(stage ${at + 1}) of`)
    html += `<p>${text}</p>`
    count += text.split(' ').length
  }
  return html
}

const navigation =
  '<header><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/in">Log in</a></li></ul></nav></header>'
const related =
  '<aside class="related"><h3>Related articles</h3><ul><li><a href="/a">Ten gardens worth the journey</a></li><li><a href="/b">Why compost matters</a></li></ul></aside>'
const footer = '<footer><ul><li><a href="/privacy">Privacy policy</a></li></ul><p>© 2025 Site Ltd.</p></footer>'

const layouts: Readonly<Record<string, (body: string) => string>> = {
  article: (body) => `<article><h1>Bridge closed</h1>${body}</article>`,
  site: (body) =>
    `${navigation}<main><article class="post"><h1>Bridge closed</h1><div class="entry-content">${body}</div></article>${related}</main>${footer}`,
}

function extract(body: string) {
  const html = `<!doctype html><html lang="en"><head><title>Bridge closed</title></head><body>${body}</body></html>`
  const { root } = mainContent(treeFromHtml(html, 'https://site.example/').root, { model })
  return { text: visibleText(root), tags: [...elementsOf(root)].map(({ tag }) => tag) }
}

const pages = Object.entries(layouts).flatMap(([layout, page]) =>
  [60, 200, 600, 2000].map((words) => ({ layout, words, page })),
)

describe.each(pages)('an article of $words words ($layout)', ({ page, words }) => {
  test.each(Object.entries(parts))('keeps %s at its end, with and without a heading', (_, [html, wanted]) => {
    for (const heading of ['', '<h2>Times</h2>']) {
      const { text } = extract(page(`${prose(words)}${heading}${html}`))
      expect(text).toContain(wanted)
      expect(text).not.toMatch(/Log in|Why compost|Privacy policy/)
    }
  })

  test.each(Object.entries(parts))('keeps the code that follows %s', (_, [html]) => {
    const { text } = extract(page(`${prose(words)}<h2>Times</h2><p>As follows.</p>${html}<pre>gate --last</pre>`))
    expect(text).toContain('gate --last')
  })

  test('keeps a note in an aside between its paragraphs', () => {
    const note =
      '<aside class="starlight-aside starlight-aside--caution"><p class="title" aria-hidden="true"><svg></svg>Caution</p><div><p>Gauges drift.</p></div></aside>'
    expect(extract(page(`${prose(words)}${note}<h2>Times</h2>${prose(60)}`)).text).toContain('Caution Gauges drift.')
  })

  test('keeps a formula at its end', () => {
    const formula = '<math display="block"><mi>E</mi><mo>=</mo><mi>m</mi></math>'
    expect(extract(page(`${prose(words)}<h2>Energy</h2>${formula}`)).tags).toContain('math')
  })

  test('drops a list of links to other articles', () => {
    const links =
      '<ul><li><a href="/a">Ten gardens worth the journey</a></li><li><a href="/b">Why compost matters</a></li></ul>'
    expect(extract(page(`${prose(words)}<h3>Related articles</h3>${links}`)).text).not.toContain('compost')
  })
})
