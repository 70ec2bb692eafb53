import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { elementsOf, findElement, visibleText } from '../../../src/engine/extract/tree.ts'

const model = await shippedModel()

function extract(body: string, { head = '', url = 'https://site.example/' } = {}) {
  const html = `<!doctype html><html lang="en"><head><title>Site</title>${head}</head><body>${body}</body></html>`
  const found = mainContent(treeFromHtml(html, url).root, { model, url })
  return { ...found, text: visibleText(found.root), tags: [...elementsOf(found.root)].map(({ tag }) => tag) }
}

const navigation = `<header class="site-header"><nav class="menu"><ul>
  <li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/about">About us</a></li><li><a href="/login">Log in</a></li>
</ul></nav></header>`
const footer = `<footer class="site-footer"><ul><li><a href="/privacy">Privacy policy</a></li><li><a href="/terms">Terms of use</a></li></ul>
  <p>© 2025 Site Ltd. All rights reserved.</p></footer>`
const related = `<aside class="related-posts"><h3>Related articles</h3><ul>
  <li><a href="/a">Ten gardens worth the journey</a></li><li><a href="/b">Why compost matters</a></li><li><a href="/c">Tools for small plots</a></li></ul></aside>`
const paragraphs = [
  'The bridge over the northern arm of the river was closed on Monday morning, after engineers had found cracks in two of its bearings, the city said.',
  'Traffic is led around the old town until the repair is finished, which may take until the end of March, depending on the weather and on the delivery of steel.',
  'The bridge was built in 1931 and has been repaired three times since then, most recently in 2008, when its deck was replaced at a cost of four million.',
  'Residents had complained about noise from the joints for years, and a report of the works department had called for an inspection as early as last autumn.',
]
const prose = paragraphs.map((text) => `<p>${text}</p>`).join('\n')

describe('main content', () => {
  test('keeps the text of an article, without navigation, related links and footer', () => {
    const { text, fellBack, type, confidence } = extract(
      `${navigation}<main><article class="post"><h1>Bridge closed</h1>${prose}</article>${related}</main>${footer}`,
    )
    for (const paragraph of paragraphs) expect(text).toContain(paragraph)
    for (const noise of ['Log in', 'Why compost matters', 'Privacy policy', 'All rights reserved'])
      expect(text).not.toContain(noise)
    expect(fellBack).toBe(false)
    expect(type).toBe('article')
    expect(confidence).toBeGreaterThan(0.8)
  })

  test('reports which headings introduce it', () => {
    const html = `${navigation}<main><article><h1>Bridge closed</h1>${prose}</article>${related}</main>${footer}`
    const { root } = treeFromHtml(html, 'https://site.example/')
    const { introduces } = mainContent(root, { model })
    const found = (name: string) => introduces(findElement(root, ({ tag }) => tag === name)!)
    expect(found('h1')).toBe(true)
    expect(found('h3')).toBe(false)
  })

  test('omits the comments of an article', () => {
    const comment = (author: string, text: string) => `<li class="comment"><div class="comment-author">${author}</div>
      <div class="comment-meta">May 4, 2024 at 3:11 pm</div><div class="comment-content"><p>${text}</p></div><a class="comment-reply-link" href="#r">Reply</a></li>`
    const { text } = extract(
      `${navigation}<main><article class="post"><h1>Bridge closed</h1><div class="entry-content">${prose}</div></article>
      <section id="comments" class="comments-area"><h2>2 comments</h2><ol class="comment-list">
      ${comment('Dora', 'I cross that bridge every day and the noise has been unbearable since the winter.')}
      ${comment('Emil', 'About time, my grandfather worked on the repair in the sixties and warned of it.')}
      </ol></section></main>${footer}`,
      { url: 'https://news.example/2024/05/bridge-closed', head: '<meta property="og:type" content="article">' },
    )
    expect(text).toContain(paragraphs[3])
    expect(text).not.toContain('unbearable')
    expect(text).not.toContain('grandfather')
  })

  test('keeps the products of a shop, without filters, banner and footer', () => {
    const product = (
      name: string,
      price: string,
    ) => `<li class="product"><a href="/p/${name}"><img src="/${name}.jpg" alt="">
      <h2 class="product-title">${name} garden spade with an ash handle</h2></a><span class="price">${price}</span></li>`
    const { text } = extract(
      `${navigation}<div id="cookie-banner" class="cookie-consent"><p>We use cookies to give you the best experience. By clicking Accept you agree.</p><button>Accept</button></div>
      <main><h1>Spades</h1><p class="category-description">Spades for clay and for sand, with handles of ash and heads of forged steel, made to last a lifetime in the garden.</p>
      <ul class="products">${['Light', 'Long', 'Heavy', 'Border', 'Trench', 'Draining', 'Root', 'Field'].map((name, at) => product(name, `$${20 + at}.00`)).join('')}</ul></main>${footer}`,
      { url: 'https://shop.example/collections/spades' },
    )
    expect(text).toContain('Spades for clay and for sand')
    expect(text).toContain('Trench garden spade with an ash handle')
    expect(text).not.toContain('cookies')
    expect(text).not.toContain('Privacy policy')
  })

  test('keeps one of two layouts of the same text', () => {
    const { text } = extract(
      `${navigation}<main><article class="desktop">${prose}</article><div class="mobile"><div class="body">${prose}</div></div></main>${footer}`,
    )
    expect(text.split(paragraphs[1]!)).toHaveLength(2)
  })

  test('keeps tables, code, lists and images in place', () => {
    const { tags, root } = extract(`${navigation}<main><article><h1>Install</h1>
      <p>Install the package with the package manager of your system, then check the version that it prints.</p>
      <pre><code class="language-sh">apt install bridge-utils
brctl --version</code></pre>
      <p>The following options are read from the configuration file when the program starts, in this order.</p>
      <table><thead><tr><th>Option</th><th>Meaning</th></tr></thead><tbody><tr><td>depth</td><td>How far links are followed from the start</td></tr></tbody></table>
      <figure><img src="/plan.png" alt="Plan"><figcaption>The plan of the bridge, as it was drawn in the year it was built.</figcaption></figure>
      <p>Each of the options may be set on the command line as well, where it wins over the file.</p>
      <ul><li>Read the manual before you change the defaults of the program.</li><li>Restart the service afterwards, or the change has no effect.</li></ul>
      </article></main>${footer}`)
    expect(tags).toEqual(
      expect.arrayContaining(['pre', 'code', 'table', 'thead', 'th', 'td', 'figure', 'img', 'ul', 'li']),
    )
    const code = [...elementsOf(root)].find(({ tag }) => tag === 'code')!
    expect(code.attributes['class']).toBe('language-sh')
    expect(code.children).toEqual([{ text: 'apt install bridge-utils\nbrctl --version' }])
  })

  test('omits a request to enable scripts in noscript', () => {
    const { text } = extract('<noscript>Please enable JavaScript.</noscript><p>The bridge is closed.</p>')
    expect(text).toBe('The bridge is closed.')
    expect(extract('<noscript>Please enable JavaScript.</noscript>').text).toBe('Please enable JavaScript.')
  })

  test('finds forum posts in noscript', () => {
    const post = (author: string, text: string) => `<div class="topic-body crawler-post"><div class="crawler-post-meta">
      <span class="creator"><a href="/u/${author}">${author}</a></span> <time>May 4, 2024, 3:11pm</time></div>
      <div class="post" itemprop="text"><p>${text}</p></div></div>`
    const { text } = extract(
      `<section id="main"></section><noscript data-path="/t/bridge/12"><div id="main-outlet" class="wrap" role="main">
        <div id="topic-title"><h1><a href="/t/bridge/12">Which bearings for a bridge?</a></h1></div>
        ${post('anna', paragraphs[0]!)}${post('bert', paragraphs[1]!)}${post('carl', paragraphs[2]!)}</div></noscript>${footer}`,
      {
        url: 'https://forum.example/t/bridge/12',
        head: '<meta name="generator" content="Discourse 3.4.0">',
      },
    )
    expect(text).toContain(paragraphs[0])
    expect(text).toContain(paragraphs[2])
    expect(text).not.toContain('Privacy policy')
  })

  test('keeps the description of a product, without reviews and questions', () => {
    const review = (
      author: string,
      text: string,
    ) => `<div class="review-item"><div class="review-author">${author}</div>
      <div class="review-stars">5 out of 5 stars</div><p class="review-body">${text}</p><button>Helpful (3)</button></div>`
    const { text } = extract(
      `${navigation}<main><div class="product-page"><h1 class="product-title">Trench spade with an ash handle</h1><div class="price">$28.00</div>
      <button class="add-to-cart">Add to cart</button><div class="product-description"><p>A narrow spade of forged steel for trenches and drains, with a handle of ash that is made to last a lifetime of digging.</p>
      <p>The blade is 15 cm wide and 30 cm long, sharpened on three sides, and cuts through roots and heavy clay.</p></div></div>
      <section id="reviews" class="customer-reviews"><h2>Customer reviews</h2>
      ${review('Anna', 'I bought this last month and dug the whole garden over with it, my back has never felt better, five stars from me.')}
      ${review('Bert', 'My old one broke after twenty years and this is a worthy successor, though the delivery took two weeks to get here.')}
      ${review('Carl', 'Great quality for the money, I would recommend it to anybody who has heavy soil and a lot of drains to dig.')}</section>
      <section class="related-products"><h2>You may also like</h2><ul><li><a href="/p/1">Light garden spade</a></li><li><a href="/p/2">Border fork</a></li><li><a href="/p/3">Root saw</a></li></ul></section></main>${footer}`,
      {
        url: 'https://shop.example/products/trench-spade',
        head: `<meta property="og:type" content="product"><script type="application/ld+json">${JSON.stringify({
          '@type': 'Product',
          name: 'Trench spade with an ash handle',
          description:
            'A narrow spade of forged steel for trenches and drains, with a handle of ash that is made to last a lifetime of digging.',
        })}</script>`,
      },
    )
    expect(text).toContain('A narrow spade of forged steel')
    expect(text).toContain('sharpened on three sides')
    expect(text).not.toContain('Border fork')
    expect(text).not.toContain('Privacy policy')
  })

  test('uses structured data for a page without text', () => {
    const data = JSON.stringify({
      '@type': 'NewsArticle',
      headline: 'Bridge closed',
      articleBody: paragraphs.join('\n'),
    })
    const { text, tags, fellBack } = extract('<div id="root"><p>Loading</p></div>', {
      head: `<script type="application/ld+json">${data}</script>`,
    })
    expect(text).toBe(`Bridge closed ${paragraphs.join(' ')}`)
    expect(tags.filter((tag) => tag === 'p')).toHaveLength(4)
    expect(fellBack).toBe(false)
  })

  test('prefers the text of the page to its structured data', () => {
    const data = JSON.stringify({
      '@type': 'NewsArticle',
      headline: 'Bridge closed',
      articleBody: 'Subscribe to read. '.repeat(90),
    })
    const { text } = extract(`${navigation}<main><article><h1>Bridge closed</h1>${prose}</article></main>${footer}`, {
      head: `<script type="application/ld+json">${data}</script>`,
    })
    expect(text).toContain(paragraphs[3])
    expect(text).not.toContain('Subscribe')
  })

  test('finds content in a head that was never closed', () => {
    const { root } = treeFromHtml(
      `<html><head><title>t</title><div class="page"><article><h1>Bridge closed</h1>${prose}</article></div>`,
      '',
    )
    const found = mainContent(root, { model })
    expect(visibleText(found.root)).toContain(paragraphs[3])
    expect([...elementsOf(found.root)].map(({ tag }) => tag)).not.toContain('head')
  })

  test('falls back to the whole page when it has no text', () => {
    const { root } = treeFromHtml('<html><body><img src="a.png"></body></html>', '')
    const found = mainContent(root, { model })
    expect(found).toMatchObject({ root, fellBack: true, confidence: 0 })
  })

  test('is deterministic, and does not change the tree', () => {
    const html = `${navigation}<article><h1>Bridge closed</h1>${prose}</article>${related}${footer}`
    const { root } = treeFromHtml(html, '')
    const before = JSON.stringify(root)
    const first = JSON.stringify(mainContent(root, { model }))
    expect(JSON.stringify(root)).toBe(before)
    expect(JSON.stringify(mainContent(treeFromHtml(html, '').root, { model }))).toBe(first)
  })

  test('runs in linear time', () => {
    const page = (times: number) => treeFromHtml(`${navigation}<main>${prose.repeat(times)}</main>${footer}`, '').root
    const time = (root: ReturnType<typeof page>) => {
      const runs = Array.from({ length: 3 }, () => {
        const start = process.cpuUsage()
        mainContent(root, { model })
        return process.cpuUsage(start).user / 1000
      })
      return Math.max(1, Math.min(...runs))
    }
    const small = time(page(100))
    expect(time(page(1000)) / small).toBeLessThan(40)
  })
})

test('cells without text keep their columns, also in a table of which some cells are dropped', () => {
  const rows = [
    ['', 'Berth 1', 'Berth 2', 'Berth 3'],
    ['Monday', '', '09:10', '11:40'],
    ['Tuesday', '08:30', '&nbsp;', '12:20'],
    ['Wednesday', '<p>07:45</p><p>10:05</p>', '', '<a href="/book">Book</a>'],
  ]
  const table = `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`
  const note = 'The table gives the hours at which the ferry can use each berth; a blank means that the berth is dry.'
  const { root } = treeFromHtml(
    `<main><h1>Tides</h1><p>${note}</p>${table}<p>On Sundays there is no service from the pier, whatever the tide may be.</p></main>`,
    '',
  )
  const cells = [...elementsOf(mainContent(root, { model }).root)]
    .filter(({ tag }) => tag === 'tr')
    .map((row) => row.children.length)
  expect(cells).toEqual([4, 4, 4, 4])
})
