/** Removal of parts that repeat on the pages of a site. */
import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { type MainContent, mainContent } from '../../../src/engine/extract/main-content/main-content.ts'
import { shippedModel } from '../../../src/engine/extract/main-content/model.ts'
import { surveyPage } from '../../../src/engine/extract/main-content/features/survey.ts'
import { hashText } from '../../../src/engine/extract/main-content/site/hash.ts'
import { repeatedParts } from '../../../src/engine/extract/main-content/site/repeated-parts.ts'
import { SiteMemory, type SiteSummary } from '../../../src/engine/extract/main-content/site/site-memory.ts'
import { attribute, type ElementNode, elementsOf, rawText, visibleText } from '../../../src/engine/extract/tree.ts'
import { type Part, templateSites } from '../../support/template-sites.ts'

const model = await shippedModel()

const read = (html: string, site?: SiteSummary): MainContent => {
  const url = 'https://site.example/'
  return mainContent(treeFromHtml(html, url).root, { model, url, site })
}

const summaryOf = (pages: readonly string[]): SiteSummary => {
  const memory = new SiteMemory()
  for (const html of pages) memory.learn(read(html, '').outline!)
  return memory.summary()
}

const pagesOf = (count: number, create: (number: number) => string) =>
  Array.from({ length: count }, (_, at) => create(at))

/** Returns the number of words of each part. */
function wordsIn(roots: readonly ElementNode[]): Record<Part, number> {
  const words = { own: 0, label: 0, frame: 0 }
  for (const root of roots) {
    for (const element of elementsOf(root)) {
      const part = attribute(element, 'data-part')
      if (part !== '') words[part as Part] += rawText(element).split(/\s+/).length
    }
  }
  return words
}

const measured = templateSites.map(({ name, page }) => {
  const pages = pagesOf(12, page)
  const site = summaryOf(pages)
  const wordsOf = (rootOf: (html: string) => ElementNode) => wordsIn(pages.map(rootOf))
  const all = wordsOf((html) => treeFromHtml(html, '').root)
  return { name, all, alone: wordsOf((html) => read(html).root), together: wordsOf((html) => read(html, site).root) }
})

test.each(measured)('twelve pages of $name lose their frame only', ({ all, alone, together }) => {
  expect(together).toEqual({ ...alone, frame: expect.any(Number) })
  expect(together.frame).toBeLessThanOrEqual(0.01 * all.frame)
})

test('the words of a part get the same decision on 98 % of the pages of a template, and on fewer without the others', () => {
  const agreement = (kept: 'alone' | 'together') => {
    const parts = measured.flatMap((site) =>
      (['own', 'label', 'frame'] as const).map((part) => [site.all[part], site[kept][part]] as const),
    )
    const agreed = parts.reduce((sum, [all, own]) => sum + Math.max(own, all - own), 0)
    return agreed / parts.reduce((sum, [all]) => sum + all, 0)
  }
  expect(agreement('together')).toBeGreaterThanOrEqual(0.98)
  expect(agreement('alone')).toBeLessThan(0.95)
})

const [{ page }] = templateSites as [(typeof templateSites)[number]]

test('nothing is removed because of four pages', () => {
  const pages = pagesOf(4, page)
  expect(summaryOf(pages)).toBe(summaryOf([]))
  expect(read(pages[0]!, summaryOf(pages)).unaided).toBeUndefined()
})

describe('pages that are copies of each other', () => {
  test('count once', () => {
    expect(summaryOf(pagesOf(12, () => page(0)))).toBe(summaryOf([]))
  })

  test('are kept whole, also if a date differs', () => {
    const pages = pagesOf(12, (at) => page(0).replace('</h1>', `</h1><p>Printed on ${at + 1} May 2024</p>`))
    const site = summaryOf(pages)
    expect(site).not.toBe(summaryOf([]))
    for (const html of pages) expect(read(html, site).root).toEqual(read(html).root)
  })

  test('do not take the content away from a page with little text', () => {
    const pages = pagesOf(
      12,
      (at) =>
        `<title>Results ${at}</title><body class="p${at}"><div class="menu"><a href="/">Home</a> ${at}</div><main><h1>Results</h1><p>There are no results for this search. Try other words, or fewer of them.</p></main>`,
    )
    const site = summaryOf(pages)
    for (const html of pages) expect(visibleText(read(html, site).root)).toContain('There are no results')
  })
})

test('a heading is removed together with everything below it, and stays above a text that differs', () => {
  const help =
    '<h2>Where to get help</h2><p>Ask in the forum of the project, or write to the list, which has more than a thousand readers.</p>'
  const pages = pagesOf(12, (at) =>
    page(at).replace(
      '<div class="bio">',
      `<h2>In short</h2><p>Number ${at} in short: the story of page ${at} is told in ${at} words.</p>${help}<div class="bio">`,
    ),
  )
  const site = summaryOf(pages)
  for (const html of pages) {
    const text = visibleText(read(html, site).root)
    expect(text).toContain('In short')
    expect(text).not.toContain('Where to get help')
    expect(text).not.toContain('Ask in the forum')
  }
})

describe('text that repeats within the content stays', () => {
  const intro = '<h1>Methods</h1><p>The methods of this class read the gauge, and store the height of the water.</p>'

  /** Returns the blocks that are removed when text with SAME repeats and text with OTHER was not kept. */
  function removedFrom(html: string): string[] {
    const survey = surveyPage(treeFromHtml(`<main>${intro}${html}${intro}</main>`, '').root, undefined, model.lexicon)
    const { blocks } = survey.segments
    const isRepeated = Uint8Array.from(blocks, ({ text }) => (text.includes('SAME') ? 1 : 0))
    const kept = blocks.filter(({ text }) => !text.includes('OTHER'))
    const marked = repeatedParts(survey, kept, isRepeated)
    return blocks.filter(({ index }) => marked[index] === 1).map(({ text }) => text)
  }

  test.each([
    [
      'a label above a text that was not kept',
      '<section><h3>read()</h3><div class="signature">public void read()</div><div class="deprecation"><span>SAME Deprecated.</span><div>OTHER This method reads the gauge twice, and will be removed in a later version.</div></div></section>',
    ],
    [
      'a heading above a list that was not kept',
      '<section class="summary"><h2>SAME Method summary</h2><div class="table"><div>OTHER read</div><div>OTHER reads the gauge, and stores the height of the water</div></div></section>',
    ],
    [
      'a heading with a link to itself',
      '<section><h2><a href="#changes">SAME Changes</a></h2><p>The gauge is read twice an hour.</p></section>',
    ],
    [
      'a definition with a link',
      '<dl><dt>All implemented interfaces</dt><dd><a href="s.html">SAME Serializable</a></dd></dl>',
    ],
    ['an item with a link', '<div><ul><li><a href="e.html">SAME Exceptions</a></li><li>The gauge</li></ul></div>'],
  ])('%s', (_, html) => {
    expect(removedFrom(html)).toEqual([])
  })

  test('but not a menu, nor a note apart from the text', () => {
    const menu =
      '<div class="m"><ul><li><a href="/a">SAME Home</a></li><li><a href="/b">SAME Gauges</a></li></ul></div>'
    expect(removedFrom(menu)).toEqual(['SAME Home', 'SAME Gauges'])
    expect(
      removedFrom('<div class="note">SAME We store cookies to remember the harbour that you visited last.</div>'),
    ).toHaveLength(1)
  })
})

test('the outline of a page is limited, and covers its beginning and its end', () => {
  const long = (at: number) =>
    page(at).replace('</h1>', `</h1>${pagesOf(5000, (line) => `<p>Line ${line} of page ${at}.</p>`).join('')}`)
  const pages = pagesOf(6, long)
  expect(read(pages[0]!, '').outline!.length).toBeLessThan(4096)
  const text = visibleText(read(pages[0]!, summaryOf(pages)).root)
  expect(text).not.toContain('Maria Lindgren')
  expect(text).toContain('Line 4999 of page 0.')
})

test('what is known about one site is not used for another', () => {
  const site = summaryOf(pagesOf(12, page))
  const url = 'https://other.example/'
  const { root } = treeFromHtml(page(0), url)
  expect(mainContent(root, { model, url, site }).unaided).toBeUndefined()
})

test('texts that differ in a few digits have different keys', () => {
  const texts = Array.from({ length: 100_000 }, (_, at) => `Price: ${String(at).padStart(6, '0')} EUR`)
  // Of 100,000 random numbers of 32 bits, one is expected twice.
  expect(new Set(texts.map((text) => hashText(text))).size).toBeGreaterThan(99_990)
})
