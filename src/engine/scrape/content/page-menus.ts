/** Recognizes menus in the text of a page: its table of contents, and the links to the pages before and after it. */
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { attribute, type ElementNode, findElement, hasClass, isElement, visibleText } from '../../extract/tree.ts'
import { statementOf } from './reference-tools.ts'
import { type LengthsByElement, measure } from './text-lengths.ts'

/** Lengths of all text of an element, and of its links, in characters. */
type Links = Pick<ReturnType<LengthsByElement>, 'all' | 'linked'>

/** Share of linked text from which an element is a list of links. */
const mostlyLinked = 0.7

export const isLinks = ({ all, linked }: Links): boolean => linked > mostlyLinked * all

/** Whether an element is the table of contents of `page`, or the links to the pages before and after it. */
export const isPageMenu = (element: ElementNode, lengths: LengthsByElement, page: ElementNode): boolean =>
  isPager(element, lengths(element)) || (isContents(element, lengths) && linksWithin(element, page))

const contentsNames = /^(?:toc|contents|localtoc|table-?of-?contents|toc-?list)$/i

const isNamedContents = (element: ElementNode): boolean =>
  contentsNames.test(attribute(element, 'id')) || hasClass(element, contentsNames)

/** Whether an element is a list of links with such a name, which Doxygen also gives to the text of a page. */
export function isContents(element: ElementNode, lengths: LengthsByElement): boolean {
  if (!isNamedContents(element)) return false
  const title = findElement(element, ({ tag }) => /^h[1-6]$/.test(tag))
  const { all, linked } = lengths(element)
  return isLinks({ all: all - (title ? lengths(title).all : 0), linked })
}

/** Whether a list of links refers to sections of its own page, whose headings it repeats. */
function linksWithin(element: ElementNode, page: ElementNode): boolean {
  const link = findElement(element, ({ tag, attributes }) => tag === 'a' && attributes['href'] !== undefined)
  const [, fragment] = /#(.+)$/.exec(attribute(link ?? element, 'href')) ?? []
  if (fragment === undefined) return false
  const names = new Set([fragment, decodeUrlPart(fragment)])
  return findElement(page, ({ attributes: { id = '', name = '' } }) => names.has(id) || names.has(name)) !== undefined
}

/** Relations of links between the pages of a manual. */
const between = /^(?:next|prev|previous|up)$/i
/** Maximum length, and minimum share of linked text, of "Next: …, Previous: …, Up: …". */
const maxPager = 400
const pagerLinked = 0.4

const isPager = (element: ElementNode, { all, linked }: Links): boolean =>
  all <= maxPager &&
  linked >= pagerLinked * all &&
  findElement(element, ({ attributes }) => between.test(attributes['rel'] ?? '')) !== undefined &&
  // A short section may begin with such links.
  findElement(
    element,
    ({ tag }) => /^h[1-6]$/.test(tag),
    ({ tag }) => tag !== 'a',
  ) === undefined

/** Maximum share of menus in the content: a page with more consists of them. */
const maxShare = 0.4

/** Returns `content` (a part of `page`) without menus of the page itself, and of its site. */
export function withoutPageMenus(content: ElementNode, page: ElementNode): ElementNode {
  const mayBe = (element: ElementNode) => isNamedContents(element) || between.test(attribute(element, 'rel'))
  const own = mayBe(content) || findElement(content, mayBe) ? withoutOwnMenus(content, page) : content
  const text = findElement(own, isNavigation) ? withoutNavigation(own, page) : own
  return findElement(text, isFooter) ? withoutStatements(text, page) : text
}

/** Whether an element is marked as the navigation of the site. */
const isNavigation = (element: ElementNode): boolean =>
  element.tag === 'nav' ||
  element.attributes['role'] === 'navigation' ||
  element.attributes['id'] === 'navigation' ||
  hasClass(element, sidebar)

const sidebar = /^(?:[a-z]+-)?side-?(?:bar|nav)$/i

/** Minimum length of the text beside the navigation, in characters, without links. */
const minBeside = 40

/** Returns content without the navigation of the site, which is beside the text of the page. */
function withoutNavigation(content: ElementNode, page: ElementNode): ElementNode {
  const lengths = measure(content)
  const menus = new Set<ElementNode>()
  let beside = lengths(content).all - lengths(content).linked
  const visit = (element: ElementNode): void => {
    const own = lengths(element)
    if (isNavigation(element) && isLinks(own)) {
      menus.add(element)
      beside -= own.all - own.linked
    } else if (!isMain(element)) for (const child of element.children) if (isElement(child)) visit(child)
  }
  visit(content)
  return menus.size > 0 && isText(beside, page) ? without(content, menus) : content
}

/** Whether so many characters beside the boilerplate are a text: a tool may generate pages with less. */
const isText = (beside: number, page: ElementNode): boolean =>
  beside >= minBeside || (beside > 0 && statementOf(page) !== undefined)

const isFooter = (element: ElementNode): boolean =>
  element.tag === 'footer' || attribute(element, 'id') === 'footer' || hasClass(element, /^(?:.+-)?footer$/)

/** Text of a footer that states the rights of the site, or the tool that generated it. */
const statements = /©|\bcopyright\b|\bgenerated (?:by|on)\b/i
/** Maximum length of such a footer, in characters. */
const maxStatements = 700

/** Returns content without the footers of the page that only state such facts. */
function withoutStatements(content: ElementNode, page: ElementNode): ElementNode {
  const lengths = measure(content)
  const footers = new Set<ElementNode>()
  const visit = (element: ElementNode): void => {
    const { all } = lengths(element)
    if (isFooter(element) && all <= maxStatements && statements.test(visibleText(element))) footers.add(element)
    else if (!isMain(element)) for (const child of element.children) if (isElement(child)) visit(child)
  }
  visit(content)
  const beside = [...footers].reduce((rest, footer) => rest - lengths(footer).all, lengths(content).all)
  return footers.size > 0 && isText(beside, page) ? without(content, footers) : content
}

const isMain = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:main|article)$/.test(tag) || attributes['role'] === 'main'

function withoutOwnMenus(content: ElementNode, page: ElementNode): ElementNode {
  const lengths = measure(content)
  const menus = new Set<ElementNode>()
  const visit = (element: ElementNode): void => {
    if (isPageMenu(element, lengths, page)) menus.add(element)
    else for (const child of element.children) if (isElement(child)) visit(child)
  }
  visit(content)
  const listed = [...menus].reduce((sum, menu) => sum + lengths(menu).all, 0)
  return menus.size === 0 || listed > maxShare * lengths(content).all ? content : without(content, menus)
}

function without(element: ElementNode, dropped: ReadonlySet<ElementNode>): ElementNode {
  const children = element.children.filter((child) => !isElement(child) || !dropped.has(child))
  return { ...element, children: children.map((child) => (isElement(child) ? without(child, dropped) : child)) }
}
