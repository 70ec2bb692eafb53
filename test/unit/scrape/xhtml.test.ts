import { describe, expect, test } from 'vitest'
import { toMarkdown } from '../../../src/engine/extract/markdown.ts'
import { findElement, rawText, visibleText } from '../../../src/engine/extract/tree.ts'
import { kindOf } from '../../../src/engine/render/http/content-kind.ts'
import { ResponseHeaders } from '../../../src/engine/egress/response-headers.ts'
import { extractMarkdown } from '../../../src/engine/scrape/extract-file.ts'
import { treeFromPage } from '../../../src/engine/scrape/documents/page-tree.ts'

const url = 'https://site.example/a'
const xhtml = 'application/xhtml+xml'
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
const doctype =
  '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd" [\n<!ENTITY who "<b>">\n]>\n'
const root = '<html xmlns="http://www.w3.org/1999/xhtml">'
const page = (body: string, head = '<title/><script src="a.js"/>'): string =>
  `${root}<head>${head}</head><body>${body}</body></html>`

const textOf = (text: string, type: string): string => visibleText(treeFromPage(text, url, type).root)

describe('XHTML', () => {
  test.each([
    ['an anchor', '<p>One <a id="top"/>two <i/>three</p>', 'One two three'],
    ['raw text', '<p>One</p><textarea/><iframe src="x"/><style/><p>two</p>', 'One two'],
    ['a heading', '<h1/><p>One</p>', 'One'],
    ['named character references', '<p>One&nbsp;&amp;&eacute;&rarr;two</p>', 'One\u00a0&é→two'],
    ['CDATA', '<p>One</p><p><![CDATA[a < b && <c>]]></p>', 'One a < b && <c>'],
    ['processing instructions', '<?php echo "<p>code</p>" ?><p>One</p><?target?>', 'One'],
    ['comments with markup', '<!-- <p> --><p>One</p>', 'One'],
    ['styles and scripts in CDATA', '<script><![CDATA[if (a<b) c("</p>")]]></script><p>One</p>', 'One'],
    ['nesting that HTML does not allow', '<p>One <div>two</div> three</p>', 'One two three'],
  ])('is parsed as XML: %s', (_, body, expected) => {
    expect(textOf(page(body), xhtml)).toBe(expected)
    expect(textOf(declaration + doctype + page(body), 'text/xml')).toBe(expected)
    expect(textOf(`\ufeff${declaration}<!-- c --><?a b?>${page(body)}`, '')).toBe(expected)
  })

  test('self-closing elements do not contain what follows', () => {
    const { root: tree } = treeFromPage(page('<p><a href="/x"/>One <b/>two</p>'), url, xhtml)
    expect(toMarkdown({ root: tree, baseUrl: url })).toBe('One two\n')
  })

  test('elements are known by their namespace, whatever its prefix', () => {
    const prefixed =
      '<h:html xmlns:h="http://www.w3.org/1999/xhtml" xmlns:dc="http://purl.org/dc/elements/1.1/"><h:body><h:p>One</h:p><dc:title>two</dc:title><meta xmlns="urn:x"><title>three</title></meta><s:svg xmlns:s="http://www.w3.org/2000/svg"><s:text>no</s:text></s:svg></h:body></h:html>'
    expect(textOf(prefixed, xhtml)).toBe('One two three')
  })

  test('keeps white space, the language and the base', () => {
    const tree = treeFromPage(
      `<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><head><base href="/b/"/></head><body><pre>a\n  b</pre></body></html>`,
      url,
      xhtml,
    )
    expect(tree.baseUrl).toBe('https://site.example/b/')
    expect(tree.root.attributes['lang']).toBe('de')
    expect(rawText(findElement(tree.root, ({ tag }) => tag === 'pre')!)).toBe('a\n  b')
  })

  test.each([
    ['an unclosed element', '<p>One<br>two</p><p><a id="x"/>three</p>', 'One two three'],
    ['crossed elements', '<p>One <b><i>two</b></i></p><p>three</p>', 'One two three'],
    ['an attribute without quotes', '<p class=a>One two</p><iframe/><p>three</p>', 'One two three'],
    [
      'a script with markup',
      '<script>if (a<b && c>d) {}</script><p>One two</p><textarea/><p>three</p>',
      'One two three',
    ],
    ['an unclosed page', '<p>One two</p><p>three', 'One two three'],
  ])('is parsed as HTML with self-closing tags where it is not well-formed: %s', (_, body, expected) => {
    expect(textOf(page(body), xhtml)).toBe(expected)
    expect(textOf(declaration + page(body), '')).toBe(expected)
  })

  test('is parsed as HTML when it is served as HTML', () => {
    expect(textOf(declaration + page('<p>One</p><textarea/><p>two</p>', ''), 'text/html')).toBe('One')
  })

  test('a file without a declaration is parsed as XML if it is well-formed, else as HTML', async () => {
    const markdown = async (text: string) =>
      (await extractMarkdown(Buffer.from(text), { onlyMain: false, headline: true })).markdown
    expect(await markdown(page('<p>One <a id="top"/>two <i/>three</p>'))).toBe('One two three\n')
    expect(await markdown(page('<p>One <i/>two<br></p>', '<title>T</title>'))).toContain('*two*')
    expect(await markdown(`${declaration}${page('<p>One <b/>two</p>')}`)).toBe('One two\n')
  })

  test('is a page when it is served as XML, other XML is not', () => {
    const kind = (type: string, text: string) =>
      kindOf(new ResponseHeaders(type ? [['content-type', type]] : []), url, Buffer.from(text))
    for (const type of ['text/xml', 'application/xml; charset=utf-8', '', 'application/octet-stream']) {
      expect(kind(type, declaration + doctype + page('<p>One</p>'))).toBe('html')
      expect(kind(type, `${declaration}<feed xmlns="http://www.w3.org/2005/Atom"/>`)).toBe('xml')
    }
    expect(kind('text/xml', `<!-- ${root} --><list/>`)).toBe('xml')
  })

  test('hostile nesting and prolog take time in proportion to their length', () => {
    const deep = `${root}<body>${'<b>'.repeat(20_000)}One${'</b>'.repeat(20_000)}</body></html>`
    expect(textOf(deep, xhtml)).toBe('One')
    expect(textOf(`${'<!-- a -->'.repeat(20_000)}${'<?a '.repeat(20_000)}`, xhtml)).toBe('')
    expect(textOf(`<!DOCTYPE html [${'"a" '.repeat(50_000)}`, '')).toBe('')
  })
})
