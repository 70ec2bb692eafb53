/** The content that extraction keeps, and its warnings for pages without content. */
import { describe, expect, test } from 'vitest'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'

const long =
  'The river carries sand and silt from the mountains to the sea, and year after year the delta grows a little. '.repeat(
    3,
  )
const page = (body: string, head = '') =>
  `<!doctype html><title>Deltas</title>${head}<nav><a href="/a">Home</a> <a href="/b">About</a></nav>
  <main><article><h1>Deltas</h1><p>${long}</p>${body}<p>${long}</p></article></main><footer>All rights reserved</footer>`

const extract = (html: string, { onlyMain = true, url = 'https://x.test/dir/page.html' as string | null } = {}) =>
  extractMarkdown(Buffer.from(html), { ...(url !== null && { url }), onlyMain, headline: true })

describe.each([true, false])('with only_main_content %s', (onlyMain) => {
  const read = async (body: string) => (await extract(page(body), { onlyMain })).markdown

  test('keeps formulas in scripts', async () => {
    const markdown =
      await read(String.raw`<p>Let <script type="math/tex">e^{i\pi}</script>, <script type="math/asciimath">x^2</script>
      and <script type="math/mml"><math><mi>y</mi><mo>+</mo><mn>1</mn></math></script>.</p><script type="math/tex; mode=display">\int_0^1 x</script>`)
    expect(markdown).toContain('Let $e^{i\\pi}$, `x^2` and $y+1$.\n\n$$\n\\int_0^1 x\n$$')
  })

  test('keeps short notes that the text refers to', async () => {
    const notes =
      '<p>Deltas grow<sup id="r1"><a href="#n1">1</a></sup>.</p><div class="reflist"><ol class="references"><li id="n1"><a href="#r1">^</a> Jones 2001.</li></ol></div>'
    expect(await read(notes)).toMatch(/Deltas grow\[\^1\]\.[\s\S]*\[\^1\]: Jones 2001\./)
  })

  test('keeps the definitions of short notes', async () => {
    const notes =
      '<p>Deltas grow<a href="#n1" id="r1">1</a>.</p><div class="sidebar"><dl><dt id="n1"><a href="#r1">1</a></dt><dd>Jones 2001. <a href="/more">More</a></dd></dl></div>'
    expect(await read(notes)).toMatch(/Deltas grow\[\^1\]\.[\s\S]*\[\^1\]: Jones 2001\./)
  })

  test('keeps the labels of icons and the marks of tasks', async () => {
    const table =
      '<table><tr><th>Feature</th><th>Free</th></tr><tr><td>Audit log</td><td><i class="x" aria-label="Not included"></i></td></tr></table>'
    expect(await read(table)).toContain('| Audit log | Not included |')
    expect(await read('<ul><li><div class="checkbox checkbox-on"></div> Buy flour for the bread</li></ul>')).toContain(
      '- [x] Buy flour',
    )
  })

  test('keeps quotations of other posts with their authors', async () => {
    const quote = `<aside class="quote" data-username="ann"><div class="title"><img alt="" class="avatar" src="/a.png"> ann:</div><blockquote><p>What else can I try?</p></blockquote></aside>`
    expect(await read(quote)).toContain('ann:\n\n> What else can I try?')
  })

  test('omits closed dialogs, and shows shadow roots', async () => {
    const markdown = await read(
      `<dialog><p>Closed. ${long}</p></dialog><my-card><template shadowrootmode="open"><p>Shadow. ${long}</p></template></my-card><p>After. ${long}</p>`,
    )
    expect(markdown).not.toContain('Closed.')
    expect(markdown).toMatch(/Shadow\.[\s\S]*After\./)
  })

  test('keeps the listings of all tabs', async () => {
    const tabs =
      '<div class="tabs"><div class="blocks"><div class="language-sh"><pre><code>npm install tides</code></pre></div><div class="language-sh"><pre><code>yarn add tides</code></pre></div></div></div>'
    expect(await read(tabs)).toMatch(/npm install tides[\s\S]*yarn add tides/)
  })

  test('keeps the source of a quotation', async () => {
    const quotation =
      '<blockquote><p>To be, or not to be, that is the question.</p><footer>— <cite>Hamlet</cite></footer></blockquote>'
    expect(await read(quotation)).toContain('question.\n>\n> — Hamlet')
  })

  test.each([
    [
      'beside a placeholder',
      '<img class="lazy" src="data:image/gif;base64,R0" alt="B"><noscript><img src="/b.jpg" alt="B"></noscript>',
    ],
    [
      'beside a placeholder that scripts fill',
      '<img data-src="/b.jpg" src="data:image/gif;base64,R0" alt="B"><noscript><img src="/b.jpg" alt="B"></noscript>',
    ],
    [
      'before its placeholder',
      '<noscript><img src="/b.jpg" alt="B"></noscript><img data-src="/b.jpg" src="data:image/gif;base64,R0" alt="B">',
    ],
    [
      'without a placeholder',
      '<div class="wrap"><noscript><a href="/large"><img src="/b.jpg" alt="B"></a></noscript></div>',
    ],
  ])('shows an image in noscript once: %s', async (_, html) => {
    expect((await read(html)).match(/!\[B\]\(https:\/\/x\.test\/b\.jpg\)/g)).toHaveLength(1)
  })

  test('omits tracking pixels in noscript', async () => {
    const counters =
      '<noscript><img src="/count.gif?r=1"></noscript><noscript><img src="/p.png" style="display:none"></noscript><noscript><img height="1" width="1" src="/q.jpg"></noscript>'
    expect(await read(counters)).not.toContain('![')
  })
})

describe('code in reference documentation', () => {
  const sphinx = '<meta name="generator" content="Sphinx 7.2">'
  const comments = ['comment', 'hljs-comment', 'token comment', 'c1', 'related', 'share', 'ad', 'nav', 'copybtn']

  test('is complete, whatever class names its highlighter uses', async () => {
    const spans = comments.map((name, at) => `<span class="${name}"># line ${at}</span>\n`).join('')
    const { markdown } = await extract(
      page(`<pre><code class="language-py">${spans}<div class="comment"># in a block</div></code></pre>`, sphinx),
    )
    for (const at of comments.keys()) expect(markdown).toContain(`# line ${at}\n`)
    expect(markdown).toContain('# in a block')
  })

  test('is next to complete tables and figures', async () => {
    const { markdown } = await extract(
      page(
        '<table><tr><th class="comments">Comments</th><th class="share">Share</th></tr><tr><td class="related">4</td><td>5 %</td></tr></table><figure class="related"><img src="/f.png" alt="F"><figcaption class="share">Shares by year</figcaption></figure>',
        sphinx,
      ),
    )
    expect(markdown).toContain('| Comments | Share |\n| --- | --- |\n| 4 | 5 % |')
    expect(markdown).toContain('Shares by year')
  })
})

describe('links of a page without a URL', () => {
  const links = `<p>${long}</p><p><a href="a/b c.html">one</a> <a href="/root">two</a> <a href="#x">three</a> <a href="//cdn.test/x">four</a> <a href="?q=1">five</a> <a href="../up">six</a> <a href="https://y.test">seven</a> <img src="i.png" alt="eight"> <a href="javascript:void 0">nine</a></p>`

  test('stay relative', async () => {
    const { markdown } = await extract(links, { url: null })
    expect(markdown).toContain(
      '[one](a/b%20c.html) [two](/root) [three](#x) [four](//cdn.test/x) [five](?q=1) [six](../up) [seven](https://y.test/) ![eight](i.png) nine',
    )
    expect(markdown).not.toContain('file:')
  })

  test('are resolved against a base of the page', async () => {
    expect((await extract(`<base href="/docs/">${links}`, { url: null })).markdown).toContain(
      '[one](/docs/a/b%20c.html) [two](/root)',
    )
    expect((await extract(`<base href="https://z.test/d/">${links}`, { url: null })).markdown).toContain(
      '(https://z.test/d/i.png)',
    )
  })
})

describe('a page without main content', () => {
  test('is returned as a whole, with a warning, when it is navigation and footer', async () => {
    const html = `<!doctype html><title>N</title><header><a href="/">Site</a></header><nav><a href="/a">Home</a> <a href="/b">About us</a> <a href="/c">Products</a></nav>
      <footer><p>© 2026 Company Ltd. All rights reserved.</p><a href="/imprint">Imprint</a></footer>`
    const { markdown, warning, warning_code: code } = await extract(html)
    expect(markdown).toContain('[About us](https://x.test/b)')
    expect(markdown).toContain('All rights reserved')
    expect(warning).toBe('no main content was found: this is the whole page')
    expect(code).toBeUndefined()
  })

  test.each([
    ['<div></div>', 'the page shows no text'],
    ['<img src="/x.png">', 'the page shows no text'],
    ['<p>Loading…</p>', 'the page shows nothing but "Loading…"'],
    [
      '<main>Please wait while your data is being loaded</main>',
      'the page shows nothing but "Please wait while your data is being loaded"',
    ],
    [
      '<noscript>You need to enable JavaScript to run this app.</noscript>',
      'the page shows nothing but "You need to enable JavaScript to run this app."',
    ],
  ])('%s has the warning of an empty page', async (html, warning) => {
    expect(await extract(html)).toMatchObject({ warning, warning_code: 'empty_page' })
  })

  test.each(['<p>Loading docks of Hamburg</p>', '<p>Yes.</p>', `<article>${long}</article>`])(
    '%s is no empty page',
    async (html) => {
      expect((await extract(html)).warning_code).toBeUndefined()
    },
  )
})

describe('a page with little main content', () => {
  const menu = Array.from({ length: 300 }, (_, at) => `<li><a href="/${at}">Department number ${at}</a></li>`).join('')
  const page = `<!doctype html><html><head><title>Rivers</title></head><body><nav><ul>${menu}</ul></nav><article><h1>Rivers</h1><p>${long.slice(0, 400)}</p></article></body></html>`

  test('has a warning', async () => {
    const { markdown, warning, warning_code: code } = await extract(page)
    expect(markdown).not.toContain('Department')
    expect(warning).toMatch(/^the main content is less than \d % of the text of the page$/)
    expect(code).toBe('little_content')
  })

  test('has no warning when all of it is requested, nor with a tenth of the text', async () => {
    const { markdown, warning } = await extractMarkdown(Buffer.from(page), {
      url: 'https://x.test/',
      headline: true,
      onlyMain: false,
    })
    expect(markdown).toContain('Department')
    expect(warning).toBeUndefined()
    expect((await extract(page.replace(menu, menu.slice(0, 2000)))).warning).toBeUndefined()
  })
})

describe('a headline that is not part of the main content', () => {
  const headed = (html: string, title: string) =>
    extract(`<!doctype html><html lang="en"><head><title>${title}</title></head><body>${html}</body></html>`)

  test('is restored above a place or a date', async () => {
    const text =
      '<p>We measure rivers that nobody has measured, mostly in waders. We are thirty people in three towns.</p><ul><li>Calibrate sensors</li></ul><p>£34,000–£41,000, 28 days of holiday, and a van.</p>'
    const job = `<div id="header"><h1 class="app-title">Field Hydrologist</h1><a href="#" id="apply_button">View all jobs</a><div class="location">Inverness, Scotland</div></div><div id="content">${text}</div>`
    const { markdown } = await headed(job, 'Job Application for Field Hydrologist at Rillwater')
    expect(markdown).toMatch(/^# Field Hydrologist\n/)
  })

  test('is restored above a heading that only shares letters with the title', async () => {
    const entries =
      '<h2>B</h2><p><b>Handstroke</b>: the pull of the sally.</p><p>: the woolly part of the rope.</p><p>: a piece of ash that breaks instead of you.</p>'
    const { markdown } = await headed(
      `<div class="site__body"><h1>Glossary</h1>${entries}</div>`,
      'Bellringing glossary',
    )
    expect(markdown).toMatch(/^# Glossary\n\n## B\n/)
  })
})
