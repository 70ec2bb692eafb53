/** Parses pages: HTML, and XHTML as XML. */
import { moveDrawnHtml } from '../../extract/drawn-html.ts'
import { treeFromHtml } from '../../extract/html-tree.ts'
import type { Tree } from '../../extract/tree.ts'
import type { QueryEncoder } from '../../extract/url-queries.ts'
import { treeFromXhtml } from '../../extract/xhtml-tree.ts'
import { rootOffset, xhtmlSyntax } from '../../render/http/xhtml.ts'

/** Parses a page with a media type, which is empty for files and responses without one. */
export function treeFromPage(text: string, url: string, mediaType: string, encode?: QueryEncoder): Tree {
  const tree = parsed(text, url, mediaType, encode)
  if (/<(?:[\w-]+:)?foreignobject\b/i.test(text)) moveDrawnHtml(tree.root)
  return tree
}

function parsed(text: string, url: string, mediaType: string, encode: QueryEncoder | undefined): Tree {
  const syntax = xhtmlSyntax(text, mediaType)
  if (syntax === 'declared') return treeFromXml(text, url, encode)
  return (syntax && treeFromXhtml(text.slice(rootOffset(text)), url, encode)) ?? treeFromHtml(text, url, { encode })
}

/** Parses XHTML; text that is not well-formed is HTML with self-closing tags. */
export const treeFromXml = (text: string, url: string, encode?: QueryEncoder): Tree =>
  treeFromXhtml(text.slice(rootOffset(text)), url, encode) ?? treeFromHtml(text, url, { selfClosing: true, encode })
