import { describe, expect, test } from 'vitest'
import { nodesFromHtml, treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import {
  type ElementNode,
  elementsOf,
  findElement,
  isElement,
  maxDepth,
  rawText,
  visibleText,
} from '../../../src/engine/extract/tree.ts'

const rootOf = (html: string): ElementNode => treeFromHtml(html, 'https://site.example/').root
const textOf = (html: string): string => visibleText(rootOf(html))
const first = (html: string, name: string): ElementNode | undefined =>
  findElement(rootOf(html), ({ tag }) => tag === name)

describe('the text of scripts', () => {
  test.each([
    ['<p>before</p><script><!-- write("<script src=a.js></script>"); var z; --></script><p>after</p>', 'before after'],
    ['<script><!-- <script> </script> hidden </script><p>after</p>', 'after'],
    ['<script>"<!-- x"; "<script>"; "</script>"; "-->"; y</script><p>after</p>', 'after'],
    ['<script><!-->x</script><p>after</p>', 'after'],
    ['<script>"<scripts>"</script><p>after</p>', 'after'],
    ['<script><!-- <scripting> </script><p>after</p>', 'after'],
    ['<style><!-- </style><p>after</p>', 'after'],
    ['<title><script></title><p>after</p>', 'after'],
  ])('ends where browsers end it: %s', (html, expected) => expect(textOf(html)).toBe(expected))
})

describe('markup that could swallow the rest of a page', () => {
  test('CDATA outside of SVG and MathML is a comment up to the next >', () => {
    expect(textOf('<body><![CDATA[<div>in</div><p>after</p>')).toBe('in after')
    expect(textOf('<p>before</p><![CDATA[ hidden > shown ]]><p>after</p>')).toBe('before shown ]]> after')
    expect(rawText(rootOf('<svg><text><![CDATA[a < b > c]]></text></svg>'))).toBe('a < b > c')
  })

  test('an unclosed frame ends with its noscript', () => {
    expect(textOf('<noscript><iframe src="https://tags.example/" /></noscript><p>after</p>')).toBe('after')
    expect(textOf('<p>one</p><NOSCRIPT>\n<IFRAME src="a"></NOSCRIPT><p>two</p><noscript><iframe></noscript>')).toBe(
      'one two',
    )
  })

  test('comments end where browsers end them', () => {
    expect(
      textOf('<!--> <p>one</p><!---> <p>two</p><!-- a --!><p>three</p><?php echo 1 ?><p>four</p></br></ b><p>five'),
    ).toBe('one two three four five')
  })
})

test('the content of each noscript is parsed on its own', () => {
  const html =
    '<head><noscript><img src="pixel.gif"></noscript><title>T</title></head><p>a<noscript><img src="b.png"><div></noscript>b'
  const [inHead, inBody] = elementsOf(rootOf(html)).filter(({ tag }) => tag === 'noscript')
  expect(inHead!.children).toMatchObject([{ tag: 'img', attributes: { src: 'pixel.gif' } }])
  expect(inBody!.children).toMatchObject([{ tag: 'img' }, { tag: 'div', children: [] }])
  expect(first(html, 'head')!.children).toMatchObject([{ tag: 'noscript' }, { tag: 'title' }])
  expect(first(html, 'p')!.children).toMatchObject([{ text: 'a' }, { tag: 'noscript' }, { text: 'b' }])
})

describe('invalid nesting is repaired as in browsers', () => {
  test.each([
    ['<b>one<p>two</b>three</p>', '<b>one</b><p><b>two</b>three</p>'],
    ['<table>lost<tr><td>cell</table>', 'lost<table><tbody><tr><td>cell</td></tr></tbody></table>'],
    ['<p>one<table><tr><td>x</table>', '<p>one</p><table><tbody><tr><td>x</td></tr></tbody></table>'],
    ['<a href=1>one<a href=2>two</a>', '<a>one</a><a>two</a>'],
    [
      '<select><option>one<p>two<option>three</select><p>after',
      '<select><option>one<p>two</p></option><option>three</option></select><p>after</p>',
    ],
    [
      '<table><td><select><tr><td>two',
      '<table><tbody><tr><td><select></select></td></tr><tr><td>two</td></tr></tbody></table>',
    ],
  ])('%s', (html, expected) => {
    const write = (node: ElementNode): string =>
      node.children
        .map((child) => (isElement(child) ? `<${child.tag}>${write(child)}</${child.tag}>` : child.text))
        .join('')
    expect(write(first(`<!doctype html>${html}`, 'body')!)).toBe(expected)
  })
})

test('keeps the first attribute of each name', () => {
  const many = Array.from({ length: 100 }, (_, at) => `a${at}=1`).join(' ')
  const { attributes } = first(`<p id=one ${many} ID=two a99=2 title='&lt;&copy=1' __proto__=x>`, 'p')!
  expect(attributes).toMatchObject({ id: 'one', a99: '1', title: '<&copy=1' })
  expect(Object.keys(attributes)).toHaveLength(102)
})

test('attaches deep elements to the deepest level, in order', () => {
  const root = rootOf(`${'<div>x'.repeat(2000)}<p>end</p>`)
  const depthOf = (element: ElementNode): number => 1 + Math.max(0, ...element.children.filter(isElement).map(depthOf))
  expect(depthOf(root)).toBe(maxDepth + 1)
  expect(rawText(root)).toBe(`${'x'.repeat(2000)}end`)
})

test('hostile text takes time in proportion to its length', () => {
  const attributes = Array.from({ length: 100_000 }, (_, at) => `a${at}`).join(' ')
  expect(textOf(`<p ${attributes}>one`)).toBe('one')
  expect(textOf(`<!doctype html public ${"''".repeat(200_000)}>one`)).toBe('one')
  expect(textOf(`one${'<!--'.repeat(200_000)}`)).toBe('one')
  expect(textOf(`${'<table>'.repeat(5000)}one`)).toBe('one')
  expect(textOf(`<body><noscript>${'<br>'.repeat(150_000)}</noscript>one`)).toBe('one')
})

test('parts of pages have no document around them', () => {
  expect(nodesFromHtml('<p>one</p>two', '')).toMatchObject([{ tag: 'p' }, { text: 'two' }])
})

describe('the slots of declarative shadow roots', () => {
  const card = (inside: string) =>
    `<my-card><template shadowrootmode="open"><h2>Head</h2><slot></slot><p>Note: <slot name="note">none</slot></p></template>${inside}</my-card>`

  test.each([
    ['<b slot="note">named</b> text <i>more</i>', 'Head text more Note: named'],
    ['<p>text</p>', 'Head text Note: none'],
    ['  ', 'Head Note: none'],
    ['<b slot="other">unknown</b>', 'Head Note: none unknown'],
  ])('show the children of the host: %s', (inside, text) => {
    expect(textOf(card(inside))).toBe(text)
  })

  test('pass children on to the slots of another shadow root', () => {
    const inner = '<x-in><template shadowrootmode="open"><p>(<slot></slot>)</p></template><slot></slot></x-in>'
    expect(textOf(`<x-out><template shadowrootmode="open">${inner}</template>passed</x-out>`)).toBe('(passed)')
  })

  test('of many hosts, and of hosts in hosts, give a tree that is not too deep', () => {
    const html = '<x-a><template shadowrootmode="open"><div><slot></slot></div></template>'.repeat(400)
    const depth = (element: ElementNode): number => 1 + Math.max(0, ...element.children.filter(isElement).map(depth))
    expect(depth(rootOf(`${html}text`))).toBeLessThanOrEqual(maxDepth + 1)
    expect(textOf(`${html}text`)).toContain('text')
  })

  test('of one host may be as many as its children', () => {
    const count = 120_000
    const slots = Array.from({ length: count }, (_, at) => `<slot name=s${at}></slot>`).join('')
    const html = `<x-a><template shadowrootmode="open">${slots}<slot name=b></slot></template>${'<b slot=b>b</b>'.repeat(count)}</x-a>`
    expect(textOf(html)).toBe('b'.repeat(count))
  })
})
