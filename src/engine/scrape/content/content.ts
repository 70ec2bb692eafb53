/** The part of a page that was asked for: its main content, or all of it. */
import { withLazyImages } from '../../extract/lazy-images.ts'
import { toMarkdown } from '../../extract/markdown.ts'
import type { WarningCode } from '../../../core/shapes/scrape.ts'
import {
  type ElementNode,
  findElement,
  isElement,
  isSilent,
  type Tree,
  type TreeNode,
  visibleText,
} from '../../extract/tree.ts'
import { isNotice, longestNotice } from '../../render/decide/notices.ts'
import { mainContent } from '../../extract/main-content/main-content.ts'
import { shippedModel } from '../../extract/main-content/shipped-model.ts'
import type { PageDocument } from '../documents/document.ts'
import { wholeReference } from './reference-text.ts'
import { withTitle } from './with-title.ts'

export interface PageContent {
  readonly tree: Tree
  readonly markdown: string
  readonly warning?: string
  readonly warningCode?: WarningCode
}

export interface ContentWishes {
  readonly onlyMain: boolean
  readonly inlineImages: boolean
  /** Put the page's headline above main content that lacks it, and back what it lacks of a manual. */
  readonly headline: boolean
}

/** Returns the content with a warning where there is no text, or no main content. */
export async function contentOf(document: PageDocument, wishes: ContentWishes): Promise<PageContent> {
  if (document.markdown !== undefined) return { tree: document.tree, markdown: document.markdown }
  const content = await chosenContent(document, wishes)
  const warning = document.isPage ? emptinessOf(content.tree.root, document.tree.root) : undefined
  return warning === undefined ? content : { ...content, warning, warningCode: 'empty_page' }
}

/** Whether an element is an image that says in words what it shows. */
const isDescribed = ({ tag, attributes }: ElementNode): boolean => tag === 'img' && !!attributes['alt']?.trim()

/** What to warn of where a page has no text, or nothing but a notice in its place. */
function emptinessOf(content: ElementNode, page: ElementNode): string | undefined {
  const text = visibleText(content, longestNotice)
  if (text === '')
    return visibleText(page, 1) === '' && !findElement(page, isDescribed) ? 'the page shows no text' : undefined
  return isNotice(text) ? `the page shows nothing but ${JSON.stringify(text)}` : undefined
}

/** Falls back to the whole page, and says so, where there is no main content. */
async function chosenContent(document: PageDocument, wishes: ContentWishes): Promise<PageContent> {
  const page = document.isPage ? { ...document.tree, root: withLazyImages(document.tree.root) } : document.tree
  const whole = { tree: page, markdown: '' }
  if (!document.isPage || !wishes.onlyMain) return { ...whole, markdown: write(page, wishes) }
  const found = mainContent(document.tree.root, {
    model: await shippedModel(),
    url: document.tree.baseUrl || undefined,
  })
  const root = wishes.headline ? forReading(found.root, document.tree.root) : found.root
  const tree = { ...document.tree, root: withLazyImages(root) }
  const markdown = found.fellBack || isChrome(found.root) ? '' : write(tree, wishes)
  if (markdown.trim() !== '') return { tree, markdown }
  const all = write(page, wishes)
  // Of a page that says nothing there is nothing to warn of.
  if (all.trim() === '') return whole
  return { ...whole, markdown: all, warning: 'no main content was found: this is the whole page' }
}

/** Parts of a page around its content. */
const chromeTags = new Set(['nav', 'footer'])
/** Characters beyond which a header is an article's. */
const longestHeader = 200
const chromeRoles = /^(?:navigation|contentinfo|menu|menubar)$/

/** Whether all the text is navigation, header and footer of the page. */
function isChrome(element: ElementNode): boolean {
  const { tag, attributes, children } = element
  // Articles have headers of their own.
  if (tag === 'main' || tag === 'article') return false
  if (tag === 'header' && visibleText(element, longestHeader).length < longestHeader) return true
  if (chromeTags.has(tag) || chromeRoles.test(attributes['role'] ?? '')) return true
  return children.every((child) => (isElement(child) ? isSilent(child) || isChrome(child) : child.text.trim() === ''))
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

/** Whether there is text on the page, and not only a notice in its place. */
export const hasText = ({ root }: Tree): boolean => emptinessOf(root, root) === undefined

/** How much there is to read, for comparing two readings of one page. */
export const readableLength = (tree: Tree): number => visibleText(tree.root).length
