import { describe, expect, test } from 'vitest'
import { tokenizable } from '../../../src/engine/extract/html-source.ts'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { visibleText } from '../../../src/engine/extract/tree.ts'

const textOf = (html: string): string => visibleText(treeFromHtml(html, 'https://site.example/').root)

describe('markup that would swallow the rest of a page', () => {
  test('a CDATA section outside of SVG and MathML is a comment up to the next >', () => {
    expect(textOf('<body><![CDATA[<div>in</div><p>after</p>')).toBe('in after')
    expect(textOf('<p>before</p><![CDATA[ hidden > shown ]]><p>after</p>')).toBe('before shown ]]> after')
  })

  test('a frame that a noscript leaves open ends with the noscript', () => {
    expect(textOf('<noscript><iframe src="https://tags.example/" /></noscript><p>after</p>')).toBe('after')
    expect(textOf('<NOSCRIPT>\n<IFRAME src="a"></NOSCRIPT><p>one</p><noscript><iframe></noscript><p>two</p>')).toBe(
      'one two',
    )
  })

  test('a frame that is closed stays what it is', () => {
    const html = '<noscript><iframe src="a"><p>old</p></iframe></noscript><iframe src="b"></iframe><p>after</p>'
    expect(tokenizable(html)).toBe(html)
    expect(textOf(html)).toBe('after')
  })

  test('every place stays where it was', () => {
    const html = '<noscript><iframe/></noscript><![CDATA[x]]><noscript><iframe/></noscript>'
    const tamed = tokenizable(html)
    expect(tamed).toHaveLength(html.length)
    expect([...tamed].flatMap((char, at) => (char === html[at] ? [] : [at]))).toEqual([11, 32, 54])
  })
})
