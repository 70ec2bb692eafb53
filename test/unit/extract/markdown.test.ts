import { describe, expect, test } from 'vitest'
import { markdownOf } from '../../support/markdown.ts'

/** Returns the Markdown of HTML, both without the indentation in this file. */
const plain = (text: string) => text.replace(/^\n/, '').replaceAll(/^ {6}/gm, '').replace(/\s*$/, '')
const becomes = (html: string, markdown: string) => expect(markdownOf(plain(html)).trimEnd()).toBe(plain(markdown))

describe('text', () => {
  test('is escaped only where Markdown would read markup', () => {
    becomes(
      '<p>5 * 3 and snake_case and __init__ and *x* and a~b</p><p># lead</p><p>1. one</p><p>- dash</p><p>a - b, c # d</p><p>[x](y) and [1] &lt;div&gt; 3 &lt; 4 AT&amp;T &amp;copy;</p>',
      String.raw`
      5 * 3 and snake_case and \_\_init\_\_ and \*x\* and a\~b

      \# lead

      1\. one

      \- dash

      a - b, c # d

      [x\](y) and [1] \<div> 3 < 4 AT&T \&copy;`,
    )
  })

  test('has the raised parts of prices on the line', () => {
    becomes(
      '<p><b><sup>$</sup>1,899<sup>.<!-- -->00</sup></b> or <i>12,<sup>99</sup> €</i></p>',
      '**$1,899.00** or *12,99 €*',
    )
    becomes('<p><sup>$</sup>19<sup>99</sup>, 7<sup class="cents">50</sup></p>', '$19.99, 7.50')
    becomes('<p><span>12.999</span><sup data-part="price-decimals">00</sup> €</p>', '12.999,00 €')
    becomes('<p>45<sup>95</sup><sup>€</sup></p>', '45.95€')
  })

  test('keeps exponents and the numbers of notes raised', () => {
    const raised = 'Paid $300<sup>12</sup>, <sup>$</sup>5 and 10<sup>12</sup>, x<sup>$</sup>, 2<sup>.5</sup>'
    becomes(`<p>${raised}</p>`, raised.replace('<sup>$</sup>5', '$5'))
  })

  test('keeps URLs that GitHub turns into links', () => {
    becomes(
      '<p>see https://a.example/x_y_z?q=*1 now</p>',
      String.raw`see https://a.example/x_y_z?q=\*1 now`.replace('https:', 'https\\:'),
    )
    becomes('<p>see https://a.example/x_y/z.</p>', 'see https://a.example/x_y/z.')
  })

  test('collapses white space, and keeps line breaks', () => {
    becomes('<p>\n one <span>two</span>\n\n<span>three</span></p>', 'one two three')
    becomes('<p>one<br>two<br><br>three</p>', 'one\\\ntwo\n\nthree')
    becomes('<div>one</div><div>two</div>', 'one\n\ntwo')
  })

  test('is emphasized without spaces and punctuation that would break emphasis', () => {
    becomes('<p>a<b> bold </b>b</p>', 'a **bold** b')
    becomes('<p><b>“Quote”</b>word</p>', '**“Quote**”word')
    becomes('<p><b>a</b><b>b</b> <em><strong>both</strong></em> <i></i></p>', '**ab** ***both***')
    becomes('<p><del>old</del> H<sub>2</sub>O <kbd>Ctrl</kbd></p>', '~~old~~ H<sub>2</sub>O <kbd>Ctrl</kbd>')
  })

  test('omits marks beside letters that others begin or end', () => {
    becomes('<p>a<del><b>b</b></del></p>', 'a**b**')
    becomes('<p>a<b><del>b</del></b></p>', 'a~~b~~')
    becomes('<p>a<b><del><i>b</i></del></b></p>', 'a*b*')
    becomes('<p>a <del><b>b</b></del> <b><s>c</s></b></p>', 'a ~~**b**~~ **~~c~~**')
  })

  test('omits scripts, styles, fallbacks, comments, fields and icons', () => {
    becomes(
      '<style>a{}</style><p>body <i class="material-icons">home</i><svg><title>t</title></svg></p><noscript>on</noscript><!-- c --><select><option>o</select><template>t</template>',
      'body',
    )
  })
})

describe('words', () => {
  test('are apart in labels and tabs, and have no soft hyphens', () => {
    becomes(
      '<div><label for="a">npm</label><label for="b">yarn</label><span role="tab">pnpm</span></div>',
      'npm yarn pnpm',
    )
    becomes('<p>Don&shy;au&shy;dampf&shy;schiff</p>', 'Donaudampfschiff')
  })
})

describe('links', () => {
  test('are resolved against the base of the page', () => {
    becomes(
      '<p><a href="../x?a=1#z">t</a> <a href="//c.example/q">c</a></p>',
      '[t](https://site.example/x?a=1#z) [c](https://c.example/q)',
    )
    becomes('<base href="https://other.example/b/"><p><a href="c">t</a></p>', '[t](https://other.example/b/c)')
    becomes(
      '<p><a href="https://e.example/A_(b)">A</a> <a href="https://e.example/a b)">s</a></p>',
      '[A](https://e.example/A_(b)) [s](https://e.example/a%20b%29)',
    )
  })

  test('become text without a target, and are omitted without text', () => {
    becomes('<p><a href="javascript:go()">go</a> <a href="#">top</a>x<a href="/a"></a>y</p>', 'go topxy')
    becomes('<h2>Part <a class="anchor" href="#part" aria-hidden="true">#</a></h2>', '## Part')
  })

  test('around blocks are applied to the heading', () => {
    becomes(
      '<a href="/p"><img src="/i.png" alt="I"><h3>Card</h3><p>Text</p></a>',
      '![I](https://site.example/i.png)\n\n### [Card](https://site.example/p)\n\nText',
    )
    becomes('<a href="/p"><div>Text</div></a>', '[Text](https://site.example/p)')
  })
})

describe('images', () => {
  test('use the best source of the page', () => {
    becomes('<img src="s.jpg" srcset="m.jpg 800w, l.jpg 1600w" alt="p">', '![p](https://site.example/docs/l.jpg)')
    becomes(
      '<img src="data:image/gif;base64,R0" data-src="/real.jpg" alt="real">',
      '![real](https://site.example/real.jpg)',
    )
    becomes(
      '<picture><source srcset="/a.webp"><img src="/a.jpg" alt="a [b]"></picture>',
      String.raw`![a \[b\]](https://site.example/a.jpg)`,
    )
    becomes(
      '<figure><img src="/f.jpg" alt="f"><figcaption>Caption</figcaption></figure>',
      '![f](https://site.example/f.jpg)\n\nCaption',
    )
  })

  test.each([
    'width="0" height="0" sizes="100vw" src="/boat.jpg"',
    'width="1" height="1" src="/boat.jpg" style="width: 100%; height: auto"',
    'width="1" height="1" srcset="/small.jpg 400w, /boat.jpg 800w"',
    'style="position:absolute;width:0;height:0;min-width:100%" src="/boat.jpg"',
    'width="1" height="1" srcset="/boat.jpg 1x" src="/small.jpg"',
    'width="0" style="WIDTH: auto; height: 10rem !important" src="/boat.jpg"',
  ])('that grow with the page are no pixels: %s', (attributes) => {
    becomes(`<p>t</p><img alt="b" ${attributes}>`, 't\n\n![b](https://site.example/boat.jpg)')
  })

  test.each([
    'src="data:image/gif;base64,R0" data-anything-src="/boat.jpg"',
    'src="/img/placeholder.png" data-echo="/boat.jpg"',
    'data-photo="/boat.jpg" data-thumb="/thumb.jpg"',
    'data-fallback="/none.jpg" data-real="/boat.jpg" src="/blank.gif"',
    'lazysrc="https://site.example/boat.jpg"',
    'src="" data-bgset="/small.jpg 400w, /boat.jpg 800w"',
    'src="/small.jpg" data-src="/boat.jpg|/boat@2x.jpg"',
    'src="/boat_90x.jpg" data-src="/boat{width}.jpg" data-widths="[]" data-srcset="/boat.jpg"',
    'src="/boat.jpg" data-src="/{size}/boat.jpg"',
    'src="/boat.jpg" data-url="/article/7" data-lazy="true" data-original="1"',
  ])('that a script loads later are found by their URL: %s', (attributes) => {
    becomes(`<img alt="b" ${attributes}>`, '![b](https://site.example/boat.jpg)')
  })

  test('that have a template for their widths are the largest', () => {
    becomes(
      '<img alt="b" src="/s.jpg" data-src="/b_{width}x.jpg" data-widths="[180, 720, 360]">',
      '![b](https://site.example/b_720x.jpg)',
    )
  })

  test('that are loaded already are kept, whatever other URLs they have', () => {
    becomes(
      '<img alt="b" src="/boat.jpg" data-hover="/hover.png" data-large-file="/large.jpg" data-id="a/b">',
      '![b](https://site.example/boat.jpg)',
    )
  })

  test.each([
    'style="max-width:100%" width="1" height="1"',
    'style="width:1px;height:auto;max-width:1px" width="1" height="1"',
    'width="1" height="1" sizes="auto, (max-width: 1px) 100vw, 1px"',
    'style="max-height:1px!important;min-width:1px!important" width="1" height="1"',
    'style="width: 0; height: 1px !important"',
    'width="1" height="1" srcset="data:image/gif;base64,R0 1x"',
  ])('that stay a pixel are omitted: %s', (attributes) => {
    becomes(`<p>t<img src="https://count.example/p.gif" ${attributes}></p>`, 't')
  })

  test('omit tracking pixels and inline data', () => {
    becomes(
      '<p>t<img width="0" height="0" src="/px.gif" style="border:0;width:1px;height:1px"><img src="/p" height="1" width="1" style="display:none"></p>',
      't',
    )
    becomes('<p>t<img src="data:image/png;base64,AAAA" data-id="7" data-options=\'{"src":"/x.jpg"}\'></p>', 't')
    becomes('<p>t<img src="/px.gif" width="1" height="1"> <img src="data:image/png;base64,AAAA" alt="x"></p>', 't')
  })
})

describe('tables', () => {
  test('keep their grid with spans, lists and bars in cells, and alignment', () => {
    becomes(
      '<table><caption>Cap</caption><thead><tr><th>a</th><th style="text-align:right">b</th><th>c</th></tr></thead><tr><td colspan="2">wide</td><td rowspan="2"><ul><li>i</li><li>j</li></ul></td></tr><tr><td><code>a|b</code></td><td>x | y<br>z</td></tr></table>',
      String.raw`
      Cap

      | a | b | c |
      | --- | --: | --- |
      | wide |  | - i<br>- j |
      | ${'`a\\|b`'} | x \| y<br>z |  |`,
    )
  })

  test('move cells past those that span rows', () => {
    becomes(
      '<table><tr><th align="left">a</th><th align="center">b</th><th>c</th></tr><tr><td rowspan="2">1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr><tr><td>6</td></tr></table>',
      `
      | a | b | c |
      | :-- | :-: | --- |
      | 1 | 2 | 3 |
      |  | 4 | 5 |
      | 6 |  |  |`,
    )
  })

  test('name each column of a group', () => {
    becomes(
      '<table><thead><tr><th rowspan=2>City</th><th colspan=2>Spring</th><th colspan=2>Autumn</th></tr><tr><th>in</th><th>out</th><th>in</th><th>out</th></tr></thead><tr><td>Oslo</td><td>1</td><td>2</td><td>3</td><td>4</td></tr></table>',
      `
      | City | Spring in | Spring out | Autumn in | Autumn out |
      | --- | --- | --- | --- | --- |
      | Oslo | 1 | 2 | 3 | 4 |`,
    )
  })

  test('keep headings, blocks and tables in cells', () => {
    becomes(
      '<table><tr><th><h4>Plan</h4></th><th><h4>Price</h4></th></tr><tr><td>Basic</td><td><table><tr><td>month</td><td>1</td></tr><tr><td>year</td><td>10</td></tr></table></td></tr><tr><td>Team</td><td><p>ask</p><pre>bax ask</pre></td></tr></table>',
      String.raw`
      | Plan | Price |
      | --- | --- |
      | Basic | month 1<br>year 10 |
      | Team | ask<br>${'`bax ask`'} |`.replaceAll('\\\\', '\\'),
    )
    becomes(
      '<table><tr><td><h3>Plan</h3></td><td><h3>Price</h3></td></tr><tr><td>Basic</td><td>1</td></tr></table>',
      '| Plan | Price |\n| --- | --- |\n| Basic | 1 |',
    )
  })

  test('show the labels of icons', () => {
    becomes(
      '<table><tr><th>Feature</th><th>Free</th><th>Pro</th><th>Team</th></tr><tr><td>Audit</td><td><svg aria-label="No" role="img"><path/></svg></td><td><i class="check" aria-label="Yes"></i></td><td aria-label="Soon"></td></tr><tr><td>Keys</td><td><span title="None"></span></td><td><svg><title>Some</title></svg></td><td><i aria-hidden="true" title="All"></i></td></tr></table>',
      `
      | Feature | Free | Pro | Team |
      | --- | --- | --- | --- |
      | Audit | No | Yes | Soon |
      | Keys | None | Some |  |`,
    )
  })

  test('without a head have an empty one', () => {
    becomes(
      '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>',
      '|  |  |\n| --- | --- |\n| a | b |\n| c | d |',
    )
  })

  test('become blocks when they are used for layout', () => {
    becomes('<table><tr><td><h2>Title</h2><p>one</p></td><td><p>two</p></td></tr></table>', '## Title\n\none\n\ntwo')
    const story = 'A story about the harbour. '.repeat(20).trim()
    becomes(
      `<table><tr><th>Head</th></tr><tr><td><h2>Title</h2><p>${story}</p></td></tr></table>`,
      `Head\n\n## Title\n\n${story}`,
    )
  })
})

describe('lists', () => {
  test('nest, also when the page nests them incorrectly', () => {
    becomes(
      '<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li><ul><li>d</li></ul><li></li><li>e</li></ul>',
      '- a\n  - b\n    1. c\n\n  * d\n- e',
    )
    becomes('<ol start="5"><li><p>x</p><p>y</p></li><li>z</li></ol>', '5. x\n\n   y\n6. z')
    becomes('<ul><li>a</li></ul><ul><li>b</li></ul>', '- a\n\n* b')
  })

  test('count as browsers do', () => {
    becomes('<ol><li>a</li><li value="7">b</li><li>c</li></ol>', '1. a\n\n7) b\n8) c')
    becomes('<ol reversed><li>a</li><li>b</li></ol>', '2. a\n\n1) b')
    becomes('<ol start="-1"><li>a</li><li>b</li><li>c</li></ol>', '- -1. a\n\n0. b\n1. c')
    becomes('<ol><li value="3">a</li><li value="4">b</li></ol>', '3. a\n4. b')
    becomes('<ul><li>x<ol><li value="4">a</li></ol></li></ul>', '- x\n\n  4. a')
  })

  test('have letters, which Markdown does not count', () => {
    becomes('<ol type="a" start="26"><li>x</li><li><p>y</p></li></ol>', '- z. x\n- aa. y')
    becomes(
      '<ol type="I"><li>x<ol type="i" start="3"><li>y</li><li></li><li>z</li></ol></li></ol>',
      '- I. x\n  - iii. y\n  - iv. z',
    )
    becomes('<ol style="list-style: upper-alpha inside"><li>x</li></ol>', '- A. x')
    becomes('<ol type="1"><li>x</li></ol>', '1. x')
  })

  test('continue when the next list begins with the next number', () => {
    becomes('<ol><li>a</li></ol><ol start="2"><li>b</li></ol><ol start="2"><li>c</li></ol>', '1. a\n2. b\n\n2) c')
  })

  test.each([
    [
      'GitLab',
      '<li><task-button></task-button><input type="checkbox" checked disabled> a</li><li><task-button></task-button><input type="checkbox" disabled> b</li>',
    ],
    [
      'GitHub',
      '<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" checked="">a</li><li class="task-list-item"><input type="checkbox">b</li>',
    ],
    [
      'Notion',
      '<li><div class="checkbox checkbox-on"></div> <span>a</span></li><li><div class="checkbox checkbox-off"></div> <span>b</span></li>',
    ],
    ['Confluence', '<li class="checked" data-inline-task-id="1">a</li><li data-inline-task-id="2">b</li>'],
    [
      'Discourse',
      '<li><span class="chcklst-box checked fa fa-square-check-o"></span> a</li><li><span class="chcklst-box fa fa-square-o"></span> b</li>',
    ],
    [
      'an editor',
      '<li data-checked="true"><label><input type="checkbox" checked><span></span></label><div><p>a</p></div></li><li data-checked="false"><label><input type="checkbox"></label><div><p>b</p></div></li>',
    ],
    [
      'ARIA',
      '<li><span role="checkbox" aria-checked="true"></span>a</li><li><span role="checkbox" aria-checked="false"></span>b</li>',
    ],
  ])('show the tasks of %s', (_, items) => becomes(`<ul>${items}</ul>`, '- [x] a\n- [ ] b'))

  test('have no tasks where only a name looks like one', () => {
    becomes('<ul class="done"><li class="checked">a</li></ul><p class="checkbox">b</p>', '- a\n\nb')
  })

  test('contain code, tasks and terms', () => {
    becomes('<ol><li>run<pre><code>npm i</code></pre></li></ol>', '1. run\n\n   ```\n   npm i\n   ```')
    becomes(
      '<ul><li><input type="checkbox" checked> done</li><li><label><input type="checkbox"> todo</label></li></ul>',
      '- [x] done\n- [ ] todo',
    )
    becomes('<dl><dt>Term</dt><dd>one</dd><dd>two</dd></dl>', '**Term**\n\n- one\n- two')
  })
})

describe('code', () => {
  test('has the language of the highlighter, and no line numbers and buttons', () => {
    becomes(
      '<div class="highlight highlight-source-js"><pre><span>go</span>()\n\nx</pre></div>',
      '```js\ngo()\n\nx\n```',
    )
    becomes('<pre class="language-yaml"><code>a: 1\n  - 2\n</code></pre>', '```yaml\na: 1\n  - 2\n```')
    becomes(
      '<figure class="highlight rust"><table><tr><td class="gutter"><pre>1\n2</pre></td><td class="code"><pre>fn a\nfn b</pre></td></tr></table></figure>',
      '```rust\nfn a\nfn b\n```',
    )
    becomes(
      '<div><button>Copy</button><pre data-lang="go"><code><div>a</div><div>b</div></code></pre></div>',
      '```go\na\nb\n```',
    )
  })

  test('of SyntaxHighlighter has its language, also in a script', () => {
    becomes('<pre data-syntaxhighlighter-params="brush: bash; gutter: false">a\nb</pre>', '```bash\na\nb\n```')
    becomes(
      '<p></p><script type="syntaxhighlighter" class="brush: java; gutter: false"><![CDATA[int x = 1;\nint y < 2;]]></script>',
      '```java\nint x = 1;\nint y < 2;\n```',
    )
  })

  test('has no label beside it that repeats its language', () => {
    becomes(
      '<div class="language-js"><button class="copy">Copy</button><span class="lang">js</span><pre><code>a</code></pre></div>',
      '```js\na\n```',
    )
    becomes('<div class="language-js"><span>app.js</span><pre><code>a</code></pre></div>', 'app.js\n\n```js\na\n```')
  })

  test('in a line keeps its breaks', () => {
    becomes('<p>run <code>a<br>b</code> now</p>', 'run `a`\\\n`b` now')
    becomes(
      '<table><tr><th>k</th><th>v</th></tr><tr><td>x</td><td><code>a<br>b</code></td></tr></table>',
      '| k | v |\n| --- | --- |\n| x | `a`<br>`b` |',
    )
  })

  test('has a fence longer than those in its text', () => {
    becomes('<pre>x\n```\ny</pre>', '````\nx\n```\ny\n````')
    becomes(
      '<p>use <code>a`b</code> and <code><a href="/f">f</a></code></p>',
      'use ``a`b`` and [`f`](https://site.example/f)',
    )
  })
})

describe('formulas', () => {
  test('become TeX from every renderer', () => {
    becomes(
      '<p>E <span class="katex"><span class="katex-mathml"><math><semantics><mi>E</mi><annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math></span><span class="katex-html">E=mc2</span></span> end</p>',
      'E $E=mc^2$ end',
    )
    becomes('<p>Let <span class="MathJax">x</span><script type="math/tex">x^2</script> be</p>', 'Let $x^2$ be')
    becomes(
      '<math display="block"><msqrt><mi>α</mi><mo>≤</mo><msub><mi>x</mi><mn>12</mn></msub></msqrt><mfrac><mi>a</mi><mi>b</mi></mfrac></math>',
      '$$\n\\sqrt{\\alpha\\le x_{12}}\\frac{a}{b}\n$$',
    )
  })
})

describe('blocks', () => {
  test('convert quotes, rules, headings and details', () => {
    becomes(
      '<blockquote><p>q</p><blockquote>r</blockquote><ul><li>i</li></ul></blockquote><hr><h2>\n One<br>\n two #</h2>',
      '> q\n>\n> > r\n>\n> - i\n\n---\n\n## One two \\#',
    )
    becomes('<details><summary>Sum</summary><p>Body</p></details>', '**Sum**\n\nBody')
  })

  test('omit the edit links of MediaWiki in every language', () => {
    // Current markup, with one link and with two.
    becomes(
      '<div class="mw-heading mw-heading2"><h2 id="Vie">Vie</h2><span class="mw-editsection"><span class="mw-editsection-bracket">[</span><a href="/w?action=edit"><span>modifier</span></a><span class="mw-editsection-bracket">]</span></span></div><p>x</p>',
      '## Vie\n\nx',
    )
    becomes(
      '<h2><span class="mw-headline" id="L">分布</span><span class="mw-editsection"><span class="mw-editsection-bracket">[</span><a class="mw-editsection-visualeditor" href="/w?veaction=edit">編集</a><span class="mw-editsection-divider"> | </span><a href="/w?action=edit">ソースを編集</a><span class="mw-editsection-bracket">]</span></span></h2>',
      '## 分布',
    )
    // Markup of MediaWiki before 1.22, with the link first.
    becomes(
      '<h2><span class="editsection">[<a href="/w?action=edit">Bearbeiten</a>]</span> <span class="mw-headline" id="N">Namen</span></h2>',
      '## Namen',
    )
    becomes('<h2>Life <span>[<a href="/edit">edit</a>]</span></h2>', '## Life [[edit](https://site.example/edit)]')
  })

  test('convert footnotes', () => {
    becomes(
      '<p>Text<sup><a href="#fn1">1</a></sup>.</p><section class="footnotes"><ol><li id="fn1"><p>Note <a href="#ref1">↩</a></p></li></ol></section>',
      'Text[^1].\n\n[^1]: Note',
    )
  })

  test('convert players to links', () => {
    becomes(
      '<iframe src="https://www.youtube.com/embed/x" title="Film"></iframe><iframe src="https://ads.example/"></iframe>',
      '[Film](https://www.youtube.com/embed/x)',
    )
  })
})

describe('footnotes', () => {
  const notes = '[^1]: One.\n\n[^2]: Two.'
  test.each([
    [
      'WordPress',
      '<p>A<sup data-fn="8d" class="fn"><a href="#8d" id="8d-link">1</a></sup> b<sup><a href="#9e" id="9e-link">2</a></sup>.</p><ol class="wp-block-footnotes"><li id="8d">One. <a href="#8d-link">↩︎</a></li><li id="9e">Two. <a href="#9e-link">↩︎</a></li></ol>',
    ],
    [
      'Sphinx',
      '<p>A<a href="#f1" id="id1" role="doc-noteref">[1]</a> b<a href="#f2" id="id2">[2]</a>.</p><aside class="footnote brackets" id="f1" role="doc-footnote"><span class="label"><span>[</span><a role="doc-backlink" href="#id1">1</a><span>]</span></span><p>One.</p></aside><aside id="f2" role="doc-footnote"><span>[<a role="doc-backlink" href="#id2">2</a>]</span><p>Two.</p></aside>',
    ],
    [
      'docutils',
      '<p>A<a href="#f1" id="id1">1</a> b<a href="#f2" id="id2">2</a>.</p><dl class="footnote brackets"><dt class="label" id="f1"><span><a href="#id1">1</a></span></dt><dd><p>One.</p></dd><dt class="label" id="f2"><span><a href="#id2">2</a></span></dt><dd><p>Two.</p></dd></dl>',
    ],
    [
      'Word',
      '<p>A<a href="#_ftn1" name="_ftnref1">[1]</a> b<a href="#_ftn2" name="_ftnref2">[2]</a>.</p><div id=ftn1><p><a href="#_ftnref1" name="_ftn1"><span>[1]</span></a> One.</p></div><div id=ftn2><p><a href="#_ftnref2" name="_ftn2">[2]</a> Two.</p></div>',
    ],
    [
      'Google Docs',
      '<p>A<sup><a href="#n1" id="r1">[1]</a></sup> b<sup><a href="#n2" id="r2">[2]</a></sup>.</p><div><p><a href="#r1" id="n1">[1]</a><span> One.</span></p></div><div><p><a href="#r2" id="n2">[2]</a><span> Two.</span></p></div>',
    ],
    [
      'Substack',
      '<p>A<a id="footnote-anchor-1" href="#footnote-1">1</a> b<a id="footnote-anchor-2" href="#footnote-2">2</a>.</p><div class="footnote"><a id="footnote-1" href="#footnote-anchor-1">1</a><div><p>One.</p></div></div><div class="footnote"><a id="footnote-2" href="#footnote-anchor-2">2</a><div><p>Two.</p></div></div>',
    ],
    [
      'MediaWiki',
      '<p>A<sup id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup> b<sup><a href="#cite_note-2">[2]</a></sup>.</p><ol class="references"><li id="cite_note-1"><span><b>^</b> <a href="#cite_ref-1"><sup><i><b>a</b></i></sup></a> <a href="#cite_ref-1b"><sup>b</sup></a></span> <span>One.</span></li><li id="cite_note-2"><span><b><a href="#cite_ref-2">^</a></b></span> <span>Two.</span></li></ol>',
    ],
    [
      'Asciidoctor',
      '<p>A<sup>[<a id="r1" href="#d1">1</a>]</sup> b<sup>[<a id="r2" href="#d2">2</a>]</sup>.</p><div id="footnotes"><div class="footnote" id="d1"><a href="#r1">1</a>. One.</div><div class="footnote" id="d2"><a href="#r2">2</a>. Two.</div></div>',
    ],
    [
      'Texinfo',
      '<p>A<a id="DOCF1" href="#FOOT1"><sup>1</sup></a> b<a id="DOCF2" href="#FOOT2"><sup>2</sup></a>.</p><div class="footnotes-segment"><h5><a id="FOOT1" href="#DOCF1">(1)</a></h5><p>One.</p><h5><a id="FOOT2" href="#DOCF2">(2)</a></h5><p>Two.</p></div>',
    ],
  ])('of %s', (_, html) => becomes(html, `A[^1] b[^2].\n\n${notes}`))

  test('below headings keep all their paragraphs, and other headings remain', () =>
    becomes(
      '<p>A<a id="r" href="#n">1</a>.</p><h4>Notes</h4><h5><a id="n" href="#r">(1)</a></h5><p>One.</p><pre>code</pre><h4><a id="c" href="#r">Chapter 2</a></h4><p>Text.</p>',
      'A[^1].\n\n#### Notes\n\n[^1]: One.\n\n    ```\n    code\n    ```\n\n#### [Chapter 2](https://site.example/docs/page.html#r)\n\nText.',
    ))

  test('may have several paragraphs, and are numbered in the order of the text', () => {
    becomes(
      '<p>A<a href="#y" id="ry">2</a> b<a href="#x" id="rx">1</a> c<a href="#y">2</a></p><ol class="footnotes"><li id="x"><p>X</p><p>more <a href="#rx">↩</a></p></li><li id="y">Y</li></ol>',
      'A[^1] b[^2] c[^1]\n\n[^2]: X\n\n    more\n\n[^1]: Y',
    )
  })

  test('are not what a table of contents leads to', () => {
    becomes(
      '<p><a id="c1" href="#s1">1</a></p><h2 id="s1">One <a href="#c1">1</a></h2>',
      '[1](https://site.example/docs/page.html#s1)\n\n## One [1](https://site.example/docs/page.html#c1)',
    )
    becomes(
      '<p>A<a id="r1" href="#n1">1</a></p><p id="n1">One</p>',
      'A[1](https://site.example/docs/page.html#n1)\n\nOne',
    )
  })
})
