/**
 * Restores missing parts of reference documentation. The main content model classifies single blocks and may drop some,
 * but a manual without some of its examples and signatures is useless. If most of such a text was classified as
 * content, all of it is kept, except for obvious boilerplate.
 */
import { isFragment } from '../../extract/markdown/code.ts'
import { prune } from '../../extract/main-content/prune.ts'
import {
  attribute,
  type ElementNode,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  isSilent,
  type TextNode,
  wordSet,
} from '../../extract/tree.ts'
import { isContents, isLinks, isPageMenu } from './page-menus.ts'
import {
  isGeneratedReference,
  isNamed,
  isStatement,
  looksLikeReference,
  Marked,
  mayBeReference,
  statementOf,
} from './reference-tools.ts'
import { type LengthsByElement, measure } from './text-lengths.ts'
import { beginsWithHeadline } from './with-title.ts'

/** Minimum share of a text classified as content: for pages of known documentation tools, and for others. */
const knownShare = 0.35
const guessedShare = 0.8
/** Minimum share for a page that states its tool, of which hardly more may have been classified as content. */
const statedShare = 0.25

/** Returns `content` (a part of `page`) with the missing parts of a reference text; unchanged for other pages. */
export function wholeReference(page: ElementNode, content: ElementNode): ElementNode {
  const marked = new Marked(page)
  const stated = statementOf(page)
  if (stated === undefined && !mayBeReference(page, marked)) return content
  const kept = new Set<TextNode>(textsOf(content))
  const lengths = measure(page, kept)
  // Content that is only in `<noscript>` has no weight.
  if (lengths(page).kept === 0) return content
  const path = pathToCore(page, lengths)
  const core = path.at(-1)!
  const isGenerated = stated !== undefined || isGeneratedReference(page, core, marked)
  if (!isGenerated && !looksLikeReference(core, lengths(core).all)) return content
  const isEnough = (element: ElementNode) => {
    const { all, kept: classified, linked } = lengths(element)
    // Tables of contents and indexes consist of links and do not count as text.
    return (
      classified >=
      (isGenerated ? (all - linked) * (stated === undefined ? knownShare : statedShare) : all * guessedShare)
    )
  }
  if (!isEnough(core)) return content
  if (isGenerated) widen(path, isEnough)
  const text = path.at(-1)!
  const entering = (isCore: boolean): Enter => {
    const enter: Enter = (element, isListed) => {
      if (element === core) return enterCore
      if (isForeign(element, isGenerated) || isPageMenu(element, lengths, page)) return undefined
      if (stated !== undefined && isStatement(element, lengths(element).all, stated)) return undefined
      if (isListing(element)) return enterListing
      if (isGenerated && isListed) return enterCore
      return isText(element, lengths, isGenerated, isCore) ? enter : undefined
    }
    return enter
  }
  const [enterCore, enterAround] = [entering(true), entering(false)]
  const beside = isGenerated ? [...headOf(page, path, lengths), ...elementsOf(page).filter(isFootnotes)] : []
  const nodes = [
    ...kept,
    ...textsOf(text, text === core ? enterCore : enterAround),
    ...beside.flatMap((part) => textsOf(part, enterAround)),
  ]
  return prune(page, [{ nodes }])
}

/** Whether an element has the footnotes of a page, which texinfo and Asciidoctor write below the text. */
const isFootnotes = (element: ElementNode): boolean =>
  /^(?:div|section|aside|ol)$/.test(element.tag) && isNamed(element, /^footnotes?(?:-segment)?$/)

/** Shortens `path` to the element that the tool marks as the whole text, while enough of it is content. */
function widen(path: ElementNode[], isEnough: (element: ElementNode) => boolean): void {
  for (let above = path.at(-2); above && !isWhole(path.at(-1)!); above = path.at(-2)) {
    if (above.tag === 'body' || !isEnough(above)) return
    path.pop()
  }
}

const isWhole = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:main|article|body)$/.test(tag) || attributes['role'] === 'main'

const listings = wordSet('pre code samp')

const isListing = (element: ElementNode): boolean => listings.has(element.tag) || isFragment(element)

/** Decides about an element, which may be listed below a subheading: undefined to omit it, else how to enter it. */
type Enter = (element: ElementNode, isListed: boolean) => Enter | undefined

// Class names in code are those of a syntax highlighter.
const enterListing: Enter = (element) => (isSilent(element) ? undefined : enterListing)

const enterAll: Enter = () => enterAll

/** Whether an element continues the rows or items before it. */
const isLike = ({ tag, attributes }: ElementNode, before: ElementNode): boolean =>
  tag === before.tag && attributes['class'] === before.attributes['class']

function textsOf(element: ElementNode, enter: Enter = enterAll, texts: TextNode[] = []): TextNode[] {
  let before: ElementNode | undefined
  let isListed = false
  for (const child of element.children) {
    if (!isElement(child)) {
      texts.push(child)
      continue
    }
    isListed = before !== undefined && (isSubheading(before) || (isListed && isLike(child, before)))
    const within = enter(child, isListed)
    if (within) textsOf(child, within, texts)
    before = child
  }
  return texts
}

/** Returns the elements from `page` down to the smallest one with nearly all of the content. */
function pathToCore(page: ElementNode, lengths: LengthsByElement): ElementNode[] {
  const enough = lengths(page).kept * 0.9
  const path = [page]
  for (;;) {
    const inner = path
      .at(-1)!
      .children.filter(isElement)
      .find((child) => lengths(child).kept >= enough)
    if (!inner) return path
    path.push(inner)
  }
}

const foreignTags = wordSet('nav form button dialog menu footer iframe')
const foreignRoles = /^(?:navigation|search|banner|contentinfo|dialog|menu|menubar|toolbar|tablist|button|alert)$/
const foreignNames =
  /^(?:.*(?:nav(?:bar|header|footer|igation)?|breadcrumbs?|sidebar|pagination|pager|headerlink|feedback|newsletter|subscribe|cookies?|share|social|search-?results?|related|sponsors?|promo|advert\w*|copy(?:-?btn|-?button)?|footer|edit-?(?:page|link|this)|skip-?link|last-?updated|comments))$|^ads?$/i
/** Also the class name of the description of a function in generated documentation. */
const commentNames = /comment$/i
const hiddenStyle = /display:\s*none/i
const hiddenNames = /^(?:hidden|sr-only|visually-hidden|u-screenreader-only)$/i
const foreignIds =
  /^(?:nav|navbar|navigation|menu|breadcrumbs?|sidebar|footer|comments|related|share|social|feedback|newsletter|ads?)$/i

/** Code, and parts of tables, figures and definitions, whose class names describe their content. */
const named = wordSet('pre code samp tr td th thead tbody tfoot caption figure figcaption dt dd')

/** Whether the columns of a table have headings. */
const hasHeadings = (table: ElementNode): boolean => findElement(table, ({ tag }) => tag === 'th') !== undefined

/** Whether an element is boilerplate: menus and notices around the text. */
function isForeign(element: ElementNode, isGenerated: boolean): boolean {
  const { tag, attributes } = element
  if (isSilent(element) || foreignTags.has(tag) || attributes['hidden'] !== undefined) return true
  if (foreignRoles.test(attributes['role'] ?? '') || attributes['aria-hidden'] === 'true') return true
  if (hasClass(element, hiddenNames) || (isGenerated && hiddenStyle.test(attribute(element, 'style')))) return true
  if (named.has(tag) || (tag === 'table' && hasClass(element, /^related$/) && hasHeadings(element))) return false
  // Only whole ids are compared, because section anchors may contain any word, such as `SQL-FOR-UPDATE-SHARE`.
  return (
    foreignIds.test(attribute(element, 'id')) ||
    hasClass(element, foreignNames) ||
    (!isGenerated && hasClass(element, commentNames))
  )
}

/**
 * Whether an element is text. Lists of links in the text of a generated reference belong to it: functions, fields,
 * chapters. On other pages, and around the text, the model decides about lists without a heading.
 */
function isText(element: ElementNode, lengths: LengthsByElement, isGenerated: boolean, isCore: boolean): boolean {
  if (!isLinks(lengths(element))) return true
  if (isGenerated && isCore) return true
  if (isContents(element, lengths)) return isGenerated
  if (!/^(?:ul|ol|table|div)$/.test(element.tag)) return true
  return isGenerated && findElement(element, isHeading) !== undefined
}

const isHeading = ({ tag }: ElementNode): boolean => tag === 'summary' || /^h[1-6]$/.test(tag)
const isSubheading = (element: ElementNode): boolean => element.tag !== 'h1' && isHeading(element)

/** Maximum length of the part with the headline, in characters. */
const maxHeadLength = 800

/** Returns the parts before the text at the end of `path`: the headline and notes about the page below it. */
function headOf(page: ElementNode, path: readonly ElementNode[], lengths: LengthsByElement): ElementNode[] {
  if (beginsWithHeadline(path.at(-1)!, page)) return []
  const highest = findElement(page, ({ tag }) => tag === 'h1') ? 'h1' : 'h2'
  const isHeadline = ({ tag }: ElementNode) => tag === highest
  const head: ElementNode[] = []
  for (const [at, above] of path.slice(0, -1).entries()) {
    const before = above.children.slice(0, above.children.indexOf(path[at + 1]!)).filter(isElement)
    const first = before.findIndex((child) => isHeadline(child) || findElement(child, isHeadline) !== undefined)
    if (head.length > 0 || first >= 0) head.push(...before.slice(Math.max(first, 0)))
  }
  const isShort = (parts: readonly ElementNode[]) =>
    parts.reduce((sum, part) => sum + lengths(part).all, 0) <= maxHeadLength
  return [head, head.slice(0, 1)].find(isShort) ?? []
}
