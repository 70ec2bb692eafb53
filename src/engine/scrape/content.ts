/** The part of a page that was asked for: its main content, or all of it. */
import { toMarkdown } from '../extract/markdown.ts'
import { type ElementNode, isElement, type Tree, type TreeNode, visibleText } from '../extract/tree.ts'
import { mainContent } from '../extract/main-content/main-content.ts'
import { shippedModel } from '../extract/main-content/shipped-model.ts'
import type { PageDocument } from './documents/document.ts'
import { wholeReference } from './reference-text.ts'
import { withTitle } from './with-title.ts'

export interface PageContent {
  readonly tree: Tree
  readonly markdown: string
  readonly warning?: string
}

export interface ContentWishes {
  readonly onlyMain: boolean
  readonly inlineImages: boolean
  /** Put the page's headline above main content that lacks it, and back what it lacks of a manual. */
  readonly headline: boolean
}

/** Falls back to the whole page, and says so, where the main content is empty. */
export async function contentOf(document: PageDocument, wishes: ContentWishes): Promise<PageContent> {
  if (document.markdown !== undefined) return { tree: document.tree, markdown: document.markdown }
  const whole = { tree: document.tree, markdown: '' }
  if (!document.isPage || !wishes.onlyMain) return { ...whole, markdown: write(document.tree, wishes) }
  const found = mainContent(document.tree.root, { model: await shippedModel(), url: document.tree.baseUrl })
  const tree = { ...document.tree, root: wishes.headline ? forReading(found.root, document.tree.root) : found.root }
  const markdown = found.fellBack ? '' : write(tree, wishes)
  if (markdown.trim() !== '') return { tree, markdown }
  const all = write(document.tree, wishes)
  // Of a page that says nothing there is nothing to warn of.
  if (all.trim() === '') return whole
  return { ...whole, markdown: all, warning: 'no main content was found: this is the whole page' }
}

/** What a reader misses where the words alone are not missed. */
const forReading = (content: ElementNode, page: ElementNode): ElementNode =>
  withTitle(wholeReference(page, content), page)

/** Inline pictures are no addresses to the writer: they travel under names of their own. */
function write(tree: Tree, { inlineImages }: ContentWishes): string {
  if (!inlineImages) return toMarkdown(tree)
  const kept = new Map<string, string>()
  const rename = (node: TreeNode): TreeNode => {
    if (!isElement(node)) return node
    const source = node.tag === 'img' ? node.attributes['src']?.trim() : undefined
    const children = node.children.map(rename)
    if (!source || !/^data:image\//i.test(source)) return { ...node, children }
    const name = `https://inline.invalid/${kept.size}.`
    kept.set(name, source.replaceAll(/\s/g, ''))
    return { ...node, attributes: { ...node.attributes, src: name }, children }
  }
  const text = toMarkdown({ ...tree, root: rename(tree.root) as ElementNode })
  return text.replaceAll(/https:\/\/inline\.invalid\/\d+\./g, (name) => kept.get(name) ?? name)
}

/** How much there is to read, for comparing two readings of one page. */
export const readableLength = (tree: Tree): number => visibleText(tree.root).length
