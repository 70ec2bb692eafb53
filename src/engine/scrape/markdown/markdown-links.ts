/** Finds the Markdown that a page links to as its alternative (`rel="alternate" type="text/markdown"`). */
import type { ResponseHeaders } from '../../egress/response-headers.ts'
import { attribute, elementsOf, type Tree } from '../../extract/tree.ts'
import { resolveUrl } from '../../extract/urls.ts'
import { hasRelation, headerLinks } from '../header-links.ts'

const markdownType = /^\s*text\/(?:x-)?markdown\s*(?:;|$)/i

/** Returns the URL of the Markdown of a page, from its HTML or the `Link` header of its response. */
export function markdownLinkOf(tree: Tree, headers: ResponseHeaders): string | undefined {
  for (const link of elementsOf(tree.root, ({ tag }) => tag !== 'body')) {
    if (link.tag !== 'link' || !hasRelation(attribute(link, 'rel'), 'alternate')) continue
    const href = attribute(link, 'href').trim()
    if (href !== '' && markdownType.test(attribute(link, 'type'))) return resolveUrl(href, tree.baseUrl)
  }
  const isMarkdown = ({ rel, type }: { rel: string; type: string }) =>
    hasRelation(rel, 'alternate') && markdownType.test(type)
  return headerLinks(headers, tree.baseUrl).find(isMarkdown)?.url
}
