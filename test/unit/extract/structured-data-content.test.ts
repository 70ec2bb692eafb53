import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { structuredDataContent } from '../../../src/engine/extract/main-content/structured-data-content.ts'
import { elementsOf, visibleText } from '../../../src/engine/extract/tree.ts'

const stated = (...data: unknown[]) =>
  structuredDataContent(
    treeFromHtml(
      `<head>${data.map((item) => `<script type="application/ld+json">${JSON.stringify(item)}</script>`).join('')}</head><body></body>`,
      'https://site.example/',
    ).root,
  )

describe('content in structured data', () => {
  test('reads the headline and body of an article, one paragraph per line', () => {
    const found = stated({
      '@type': 'NewsArticle',
      headline: 'Bridge closed',
      articleBody: 'Cracks were found.\n\nIt opens in March.',
    })!
    const tags = [...elementsOf(found.root)].map(({ tag }) => tag)
    expect(tags).toEqual(['html', 'body', 'article', 'h1', 'p', 'p'])
    expect(visibleText(found.root)).toBe('Bridge closed Cracks were found. It opens in March.')
    expect(found.words).toBe(9)
  })

  test('reads a question and its answers, with their authors first', () => {
    const found = stated({
      '@graph': [
        {
          '@type': 'QAPage',
          mainEntity: {
            '@type': 'Question',
            name: 'Which bearings?',
            text: 'For a bridge.',
            suggestedAnswer: [{ '@type': 'Answer', author: { name: 'Anna' }, text: 'Those of steel.' }],
          },
        },
      ],
    })!
    expect(visibleText(found.root)).toBe('Which bearings? For a bridge. Anna Those of steel.')
  })

  test('parses HTML in the description of a product', () => {
    const found = stated({ '@type': 'Product', name: 'Spade', description: '<p>Of <b>ash</b> &amp; steel.</p>' })!
    expect(visibleText(found.root)).toBe('Spade Of ash & steel.')
    expect([...elementsOf(found.root)].map(({ tag }) => tag)).toContain('b')
  })

  test('is undefined for a name alone, a shop, and invalid data', () => {
    expect(stated({ '@type': 'Product', name: 'Spade' })).toBeUndefined()
    expect(stated({ '@type': 'Organization', name: 'Shop', description: 'Sells spades.' })).toBeUndefined()
    expect(
      structuredDataContent(treeFromHtml('<script type="application/ld+json">{"@type":</script>', '').root),
    ).toBeUndefined()
  })
})
