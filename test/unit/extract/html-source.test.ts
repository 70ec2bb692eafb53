import { describe, expect, test } from 'vitest'
import { tokenizable } from '../../../src/engine/extract/html-source.ts'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { visibleText } from '../../../src/engine/extract/tree.ts'

const textOf = (html: string): string => visibleText(treeFromHtml(html, 'https://site.example/').root)

describe('markup that could swallow the rest of a page', () => {
  test('treats CDATA outside of SVG and MathML as a comment up to the next >', () => {
    expect(textOf('<body><![CDATA[<div>in</div><p>after</p>')).toBe('in after')
    expect(textOf('<p>before</p><![CDATA[ hidden > shown ]]><p>after</p>')).toBe('before shown ]]> after')
  })

  test('ends an unclosed frame with its noscript', () => {
    expect(textOf('<noscript><iframe src="https://tags.example/" /></noscript><p>after</p>')).toBe('after')
    expect(textOf('<NOSCRIPT>\n<IFRAME src="a"></NOSCRIPT><p>one</p><noscript><iframe></noscript><p>two</p>')).toBe(
      'one two',
    )
  })

  test('keeps a closed frame', () => {
    const html = '<noscript><iframe src="a"><p>old</p></iframe></noscript><iframe src="b"></iframe><p>after</p>'
    expect(tokenizable(html)).toBe(html)
    expect(textOf(html)).toBe('after')
  })

  test('keeps all offsets', () => {
    const html = '<noscript><iframe/></noscript><![CDATA[x]]><noscript><iframe/></noscript>'
    const tamed = tokenizable(html)
    expect(tamed).toHaveLength(html.length)
    expect([...tamed].flatMap((char, at) => (char === html[at] ? [] : [at]))).toEqual([11, 32, 54])
  })
})
