/** The common form of fetched documents of all content types. */
import type { DecodedText } from '../../render/http/charset.ts'
import { decodeUrlPart } from '../../../core/net/urls.ts'
import type { ElementNode, Tree, TreeNode } from '../../extract/tree.ts'
import { longestRun } from '../../../core/text/pieces.ts'

export interface PageDocument {
  /** The content as a tree; an HTML equivalent for other content types. */
  readonly tree: Tree
  /** The decoded text; absent for binary content. */
  readonly raw?: string
  readonly charset?: string
  /** The Markdown, if it is better than that of the tree. */
  readonly markdown?: string
  /** The Markdown without images whose data it contains. */
  readonly withoutImages?: string
  readonly title?: string
  readonly description?: string
  readonly language?: string
  readonly author?: string
  readonly published?: string
  readonly modified?: string
  readonly pages?: number
  /** Front matter of Markdown. */
  readonly frontMatter?: Readonly<Record<string, unknown>>
  readonly sourceFormat?: 'markdown'
  readonly value?: unknown
  /** Whether the document is a web page with main content and boilerplate. */
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

/** Creates an element with any number of children, which may be too many for an argument list. */
export const elementAround = (tag: string, children: readonly TreeNode[]): ElementNode => ({
  tag,
  attributes: {},
  children: [...children],
})

type Present<Facts> = { [Name in keyof Facts]?: Exclude<Facts[Name], undefined> }

/** Removes facts that are undefined or empty. */
export const present = <Facts extends object>(facts: Facts): Present<Facts> =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined && value !== '')) as Present<Facts>

/** Creates a document with a title and a body. */
export const treeOf = (url: string, title: string, children: readonly TreeNode[]): Tree => ({
  root: element('html', {}, element('head', {}, element('title', {}, title)), elementAround('body', children)),
  baseUrl: url,
})

/** Returns the last part of a URL's path. */
export function fileName(url: string): string {
  return decodeUrlPart(new URL(url).pathname.split('/').findLast(Boolean) ?? '')
}

/** Decoded text, and the URL that it was fetched from. */
export interface SourceText extends DecodedText {
  readonly url: string
}

/** Creates a document of source code, shown as it is. */
export const codeDocument = ({ text, charset, url }: SourceText, language: string): PageDocument => ({
  tree: treeOf(url, fileName(url), [element('pre', {}, element('code', { class: `language-${language}` }, text))]),
  raw: text,
  charset,
  markdown: fenced(text, language),
  isPage: false,
})

/** Returns a fenced code block whose fence is longer than any inside. */
function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(longestRun(text, '`'), 2) + 1)
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}\n`
}
