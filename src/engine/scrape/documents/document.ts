/** What was got from an address, in one form for every kind of content. */
import { decodedPart } from '../../../core/net/urls.ts'
import type { ElementNode, Tree, TreeNode } from '../../extract/tree.ts'

export interface PageDocument {
  /** The content as a tree; of other things than HTML, what they would be in HTML. */
  readonly tree: Tree
  /** The text as decoded; absent for what is no text. */
  readonly raw?: string
  readonly charset?: string
  /** Its Markdown, where the tree would not give the best. */
  readonly markdown?: string
  readonly title?: string
  readonly description?: string
  readonly language?: string
  readonly author?: string
  readonly published?: string
  readonly modified?: string
  readonly pages?: number
  /** The value, of JSON. */
  readonly value?: unknown
  /** Whether there is a difference between the page and its main content. */
  readonly isPage: boolean
  readonly warning?: string
}

export const element = (
  tag: string,
  attributes: Record<string, string>,
  ...children: (TreeNode | string)[]
): ElementNode => ({
  tag,
  attributes,
  children: children.map((child) => (typeof child === 'string' ? { text: child } : child)),
})

/** The same around as many as there are: not all of them are arguments. */
export const elementAround = (tag: string, children: readonly TreeNode[]): ElementNode => ({
  tag,
  attributes: {},
  children: [...children],
})

/** A document around some elements. */
export const treeOf = (url: string, title: string, children: readonly TreeNode[]): Tree => ({
  root: element('html', {}, element('head', {}, element('title', {}, title)), elementAround('body', children)),
  baseUrl: url,
})

/** The last part of an address as a name. */
export function fileName(url: string): string {
  return decodedPart(new URL(url).pathname.split('/').findLast(Boolean) ?? '')
}

/** A fenced block whose fence is longer than any inside. */
export function fenced(text: string, language: string): string {
  let longest = 2
  for (const [, run] of text.matchAll(/^[^\S\n]*(`{3,})/gm)) longest = Math.max(longest, run!.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}\n`
}
