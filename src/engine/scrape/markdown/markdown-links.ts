/** Finds the Markdown that a page links to as its alternative (`rel="alternate" type="text/markdown"`). */
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { attribute, elementsOf, type Tree } from '../../extract/tree.ts'
import { resolveUrl } from '../../extract/urls.ts'

const markdownType = /^\s*text\/(?:x-)?markdown\s*(?:;|$)/i

/** Returns the URL of the Markdown of a page, from its HTML or the `Link` header of its response. */
export function markdownLinkOf(tree: Tree, headers: ResponseHeaders): string | undefined {
  for (const link of elementsOf(tree.root, ({ tag }) => tag !== 'body')) {
    if (link.tag !== 'link' || !isAlternate(attribute(link, 'rel'))) continue
    const href = attribute(link, 'href').trim()
    if (href !== '' && markdownType.test(attribute(link, 'type'))) return resolveUrl(href, tree.baseUrl)
  }
  return markdownHeaderOf(headers, tree.baseUrl)
}

const isAlternate = (rel: string): boolean => rel.toLowerCase().split(/\s+/).includes('alternate')

/** One link of a `Link` header (RFC 8288): its target and its parameters. */
const headerLink = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g

function markdownHeaderOf(headers: ResponseHeaders, base: string): string | undefined {
  for (const line of headers.all('link')) {
    for (const [, href = '', params = ''] of line.slice(0, maxHeader).matchAll(headerLink)) {
      if (isAlternate(paramOf(params, 'rel')) && markdownType.test(paramOf(params, 'type')))
        return resolveUrl(href.trim(), base)
    }
  }
  return undefined
}

/** Characters of a header that are read. */
const maxHeader = 16_384

const paramOf = (params: string, name: string): string => {
  const [, quoted, plain] = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s",;]+))`, 'i').exec(params) ?? []
  return quoted ?? plain ?? ''
}
