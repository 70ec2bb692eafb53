/** Parses HTML text to a tree as the HTML standard does: with the tree construction of parse5, on nodes of our own. */
import type { ParserOptions, Tokenizer, TreeAdapter } from 'parse5'
import { type HtmlSyntax, HtmlTokenizer } from './html/tokenizer.ts'
import { type ElementNode, isElement, maxDepth, rawText, type Tree, type TreeNode } from './tree.ts'
import { fillSlots } from './html/slots.ts'
import { NodeAdapter, type Types } from './html/tree-adapter.ts'
import { TreeNodes } from './tree-nodes.ts'
import { TreeParser } from './html/tree-parser.ts'
import type { QueryEncoder } from './url-queries.ts'
import { resolveUrl } from './urls.ts'

/** `encode` encodes the queries of URLs, which are UTF-8 without it; `selfClosing` allows `<a/>`. */
export interface HtmlOptions extends HtmlSyntax {
  readonly encode?: QueryEncoder | undefined
}

/**
 * Parses HTML text (decoded by the caller) that was fetched from `url`; any text yields a tree.
 * @throws BaxError `content_too_large` for more elements than a tree may have.
 */
export function treeFromHtml(source: string, url: string, options: HtmlOptions = {}): Tree {
  const adapter = new NodeAdapter(new TreeNodes(), options.encode)
  const root = rootOf(source, adapter, options)
  const base = adapter.base === undefined ? undefined : resolveUrl(adapter.base, url)
  let within = 0
  for (const element of adapter.noscripts) within = Math.max(within, parseNoscript(element, adapter))
  if (adapter.depth + within >= maxDepth) limitDepth(root, 1)
  if (adapter.shadowRoots.size > 0) {
    fillSlots(root, adapter.shadowRoots)
    limitDepth(root, 1)
  }
  return { root, baseUrl: base ?? url }
}

/** Parses HTML text that is part of a page. */
export function nodesFromHtml(source: string, url: string): TreeNode[] {
  const { root } = treeFromHtml(source, url)
  return root.children.find((child): child is ElementNode => isElement(child) && child.tag === 'body')?.children ?? []
}

function rootOf(source: string, adapter: NodeAdapter, syntax: HtmlSyntax): ElementNode {
  const treeAdapter = adapter as unknown as TreeAdapter<Types>
  const parser = new TreeParser({ treeAdapter } as ParserOptions<Types>)
  const tokenizer = new HtmlTokenizer(source, parser, syntax)
  parser.tokenizer = tokenizer as unknown as Tokenizer
  tokenizer.run()
  adapter.depth = parser.depth
  return parser.document.children.find(isElement)!
}

/** Parses the text of a `<noscript>`; returns its depth. One within it is kept as text. */
function parseNoscript(element: ElementNode, { nodes, encode }: NodeAdapter): number {
  const adapter = new NodeAdapter(nodes, encode)
  const root = rootOf(rawText(element), adapter, {})
  element.children.length = 0
  for (const part of root.children) if (isElement(part)) for (const child of part.children) element.children.push(child)
  return adapter.depth
}

/** Flattens what is deeper than a tree may be: at the deepest level, descendants become siblings. */
function limitDepth({ children }: ElementNode, depth: number): void {
  if (depth < maxDepth) {
    for (const child of children) if (isElement(child)) limitDepth(child, depth + 1)
    return
  }
  const waiting = children.splice(0).toReversed()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    children.push(node)
    if (isElement(node)) for (const child of node.children.splice(0).toReversed()) waiting.push(child)
  }
}
