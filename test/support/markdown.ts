/** Reads Markdown back, to see that it says what was meant. */
import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { toMarkdown } from '../../src/engine/extract/markdown.ts'

/** Markdown of a piece of HTML that stands at https://site.example/docs/page.html. */
export const markdownOf = (html: string): string =>
  toMarkdown(treeFromHtml(html, 'https://site.example/docs/page.html'))

export const parseMarkdown = (markdown: string): Root =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })

/** All nodes of a kind in document order. */
export function nodesOf<Type extends Nodes['type']>(root: Nodes, type: Type): Extract<Nodes, { type: Type }>[] {
  const found: Nodes[] = root.type === type ? [root] : []
  if ('children' in root) for (const child of root.children) found.push(...nodesOf(child, type))
  return found as Extract<Nodes, { type: Type }>[]
}

/** The text that a reader of the rendered Markdown sees. */
export function textOf(node: Nodes): string {
  if (node.type === 'html') return ''
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}
