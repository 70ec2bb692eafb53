/** Selects the requested part of a page, its main content or all of it, and converts it to Markdown. */
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
import { isNotice, maxNoticeChars } from '../../render/decide/notices.ts'
import { mainContent } from '../../extract/main-content/main-content.ts'
import { hashText } from '../../extract/main-content/site/hash.ts'
import type { PageTrace } from '../../extract/main-content/site/outline.ts'
import type { SiteSummary } from '../../extract/main-content/site/site-memory.ts'
import { shippedModel } from '../../extract/main-content/model.ts'
import type { PageDocument } from '../documents/document.ts'
import { withoutPageMenus } from './page-menus.ts'
import { wholeReference } from './reference-text.ts'
import { lettersOf } from './text-lengths.ts'
import { withinToolText, withToolTitles } from './tool-pages.ts'
import { withTitle } from './with-title.ts'

export interface PageContent {
  readonly tree: Tree
  readonly markdown: string
  readonly warning?: string
  readonly warningCode?: WarningCode
  /** Present if `site` was given and main content was selected. */
  readonly trace?: PageTrace
}

export interface ContentOptions {
  readonly onlyMain: boolean
  readonly inlineImages: boolean
  /** Whether to restore a missing headline, and missing parts of reference documentation. */
  readonly headline: boolean
  /** Summary of other pages of the site. */
  readonly site?: SiteSummary | undefined
}

/** Returns the content, with a warning if there is no text, no main content, or little of the page. */
export async function contentOf(document: PageDocument, options: ContentOptions): Promise<PageContent> {
  const { tree, markdown, withoutImages = markdown } = document
  if (markdown !== undefined) return { tree, markdown: options.inlineImages ? markdown : withoutImages! }
  const content = await selectContent(document, options)
  if (!document.isPage) return content
  const [part, page] = [content.tree.root, document.tree.root]
  const empty = emptinessOf(part, page)
  if (empty !== undefined) return { ...content, warning: empty, warningCode: 'empty_page' }
  const little = options.onlyMain && content.warning === undefined ? littlenessOf(part, page) : undefined
  return little === undefined ? content : { ...content, warning: little, warningCode: 'little_content' }
}

/** Share of the text of a page below which its main content may be incomplete. */
const littleShare = 0.1

/** Returns a warning for content that is a small part of the text of its page. */
function littlenessOf(content: ElementNode, page: ElementNode): string | undefined {
  const [part, all] = [lettersOf(content), lettersOf(page)]
  if (part >= littleShare * all) return undefined
  return `the main content is less than ${Math.floor((100 * part) / all) + 1} % of the text of the page`
}

const isDescribed = ({ tag, attributes }: ElementNode): boolean => tag === 'img' && !!attributes['alt']?.trim()

/** Returns a warning for a page without text, or with only a notice. */
function emptinessOf(content: ElementNode, page: ElementNode): string | undefined {
  const text = visibleText(content, maxNoticeChars)
  if (text === '')
    return visibleText(page, 1) === '' && !findElement(page, isDescribed) ? 'the page shows no text' : undefined
  return isNotice(text) ? `the page shows nothing but ${JSON.stringify(text)}` : undefined
}

/** Selects the main content; falls back to the whole page, with a warning. */
async function selectContent(document: PageDocument, options: ContentOptions): Promise<PageContent> {
  const original = document.isPage ? withToolTitles(document.tree.root) : document.tree.root
  const whole = () => {
    const tree = document.isPage ? { ...document.tree, root: withLazyImages(original) } : document.tree
    return { tree, markdown: write(tree, options) }
  }
  if (!document.isPage || !options.onlyMain) return whole()
  const found = mainContent(original, {
    model: await shippedModel(),
    url: document.tree.baseUrl || undefined,
    site: options.site,
  })
  const contentIn = (all: ElementNode): PageContent => {
    const selected = withoutPageMenus(withinToolText(all, original), original)
    const reference = () => withinToolText(wholeReference(original, selected), original)
    const root = options.headline ? withTitle(reference(), original, found.introduces) : selected
    const tree = { ...document.tree, root: withLazyImages(root) }
    const markdown = found.fellBack || isChrome(selected) ? '' : write(tree, options)
    return { tree, markdown: markdown.replace(leadingRule, '') }
  }
  const selected = contentIn(found.root)
  const unaided = found.unaided ? contentIn(found.unaided) : selected
  const traceOf = ({ markdown }: PageContent) =>
    found.outline !== undefined && { trace: { outline: found.outline, content: hashText(markdown) } }
  for (const content of [selected, unaided])
    if (content.markdown.trim() !== '') return { ...content, ...traceOf(unaided) }
  const all = whole()
  // An empty page gets another warning.
  if (all.markdown.trim() === '') return { ...all, markdown: '' }
  return { ...all, ...traceOf(all), warning: 'no main content was found: this is the whole page' }
}

/** A rule that separated the content from omitted text; at the beginning, it would start front matter. */
const leadingRule = /^(?:---\n+)+/

/** Boilerplate around the content. */
const chromeTags = new Set(['nav', 'footer'])
/** Length from which a header belongs to an article, in characters. */
const maxHeaderLength = 200
const chromeRoles = /^(?:navigation|contentinfo|menu|menubar)$/

/** Whether all text belongs to the navigation, header and footer of the page. */
function isChrome(element: ElementNode): boolean {
  const { tag, attributes, children } = element
  // Articles have their own headers.
  if (tag === 'main' || tag === 'article') return false
  if (tag === 'header' && visibleText(element, maxHeaderLength).length < maxHeaderLength) return true
  if (chromeTags.has(tag) || chromeRoles.test(attributes['role'] ?? '')) return true
  return children.every((child) => (isElement(child) ? isSilent(child) || isChrome(child) : child.text.trim() === ''))
}

/** Converts a tree to Markdown; placeholders carry inline images through the writer, which omits `data:` URLs. */
function write(tree: Tree, { inlineImages }: ContentOptions): string {
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

/** Whether the page has text other than a notice, or an image with a text alternative. */
export const hasText = ({ root }: Tree): boolean => emptinessOf(root, root) === undefined

/** Whether a page has enough text to be used without rendering. */
export const isReadableTree = ({ root }: Tree): boolean =>
  // The beginning of most pages is enough.
  visibleText(root, 2000).length >= minReadable || visibleText(root).length >= minReadable

/** Minimum length of readable text, in characters. */
const minReadable = 200
