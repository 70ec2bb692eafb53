/** Parses Markdown, to check its meaning. */
import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { treeFromHtml } from '../../src/engine/extract/html-tree.ts'
import { toMarkdown } from '../../src/engine/extract/markdown.ts'

/** Converts HTML of https://site.example/docs/page.html to Markdown. */
export const markdownOf = (html: string): string =>
  toMarkdown(treeFromHtml(html, 'https://site.example/docs/page.html'))

export const parseMarkdown = (markdown: string): Root =>
  fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })

/** Returns all nodes of a type in document order. */
export function nodesOf<Type extends Nodes['type']>(root: Nodes, type: Type): Extract<Nodes, { type: Type }>[] {
  const found: Nodes[] = root.type === type ? [root] : []
  if ('children' in root) for (const child of root.children) found.push(...nodesOf(child, type))
  return found as Extract<Nodes, { type: Type }>[]
}

/** Returns the visible text of the rendered Markdown. */
export function textOf(node: Nodes): string {
  if (node.type === 'html') return ''
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}
