/**
 * Restores missing parts of reference documentation. The main content model classifies single blocks and may drop some,
 * but a manual without some of its examples and signatures is useless. If most of such a text was classified as
 * content, all of it is kept, except for obvious boilerplate.
 */
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
import { beginsWithHeadline } from './with-title.ts'

/** Text lengths of an element, in characters: all text, text classified as content, text of links. */
interface Lengths {
  all: number
  kept: number
  linked: number
}

type LengthsByElement = (element: ElementNode) => Lengths

/** Minimum share of a text classified as content: for pages of known documentation tools, and for others. */
const knownShare = 0.35
const guessedShare = 0.8

/** Returns `content` (a part of `page`) with the missing parts of a reference text; unchanged for other pages. */
export function wholeReference(page: ElementNode, content: ElementNode): ElementNode {
  const marked = new Marked()
  if (!mayBeReference(page, marked)) return content
  const kept = new Set<TextNode>(textsOf(content))
  const lengths = measure(page, kept)
  // Content that is only in `<noscript>` has no weight.
  if (lengths(page).kept === 0) return content
  const path = pathToCore(page, lengths)
  const core = path.at(-1)!
  const isGenerated = isGeneratedReference(page, core, marked)
  if (!isGenerated && !looksLikeReference(core, lengths(core).all)) return content
  const isEnough = (element: ElementNode) => {
    const { all, kept: classified, linked } = lengths(element)
    // Tables of contents and indexes consist of links and do not count as text.
    return classified >= (isGenerated ? (all - linked) * knownShare : all * guessedShare)
  }
  if (!isEnough(core)) return content
  if (isGenerated) widen(path, isEnough)
  const text = path.at(-1)!
  const whole = lengths(text).all
  const isOwn = (element: ElementNode) =>
    !isForeign(element) && !isMenu(element) && isText(element, lengths(element), isGenerated, whole)
  // A table of contents of the page itself is a menu too, even if it was classified as content.
  const isMenu = (element: ElementNode) => isGenerated && isNamed(element, contents) && linksWithin(element, page)
  const classified = textsOf(page, (element) => !isMenu(element)).filter((node) => kept.has(node))
  const parts = [text, ...(isGenerated ? headOf(page, path, lengths) : [])]
  return prune(page, [{ nodes: [...classified, ...parts.flatMap((part) => textsOf(part, isOwn))] }])
}

/** Shortens `path` to the element that the tool marks as the whole text, while enough of it is content. */
function widen(path: ElementNode[], isEnough: (element: ElementNode) => boolean): void {
  for (let above = path.at(-2); above && !isWhole(path.at(-1)!); above = path.at(-2)) {
    if (above.tag === 'body' || !isEnough(above)) return
    path.pop()
  }
}

const isWhole = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:main|article|body)$/.test(tag) || attributes['role'] === 'main'

const isListing = ({ tag }: ElementNode): boolean => tag === 'pre' || tag === 'code' || tag === 'samp'

const isShown = (element: ElementNode): boolean => !isSilent(element)

function textsOf(
  element: ElementNode,
  enter: (element: ElementNode) => boolean = () => true,
  texts: TextNode[] = [],
): TextNode[] {
  for (const child of element.children) {
    if (!isElement(child)) texts.push(child)
    // Class names in code are those of a syntax highlighter, so `enter` does not apply.
    else if (enter(child)) textsOf(child, isListing(child) ? isShown : enter, texts)
  }
  return texts
}

const none: Lengths = { all: 0, kept: 0, linked: 0 }

function measure(page: ElementNode, kept: ReadonlySet<TextNode>): LengthsByElement {
  const lengths = new Map<ElementNode, Lengths>()
  const visit = (element: ElementNode): Lengths => {
    const own: Lengths = { all: 0, kept: 0, linked: 0 }
    lengths.set(element, own)
    if (isSilent(element)) return own
    for (const child of element.children) {
      if (isElement(child)) {
        const inner = visit(child)
        own.all += inner.all
        own.kept += inner.kept
        own.linked += child.tag === 'a' ? inner.all : inner.linked
      } else {
        const letters = child.text.trim().length
        own.all += letters
        if (kept.has(child)) own.kept += letters
      }
    }
    return own
  }
  visit(page)
  return (element) => lengths.get(element) ?? none
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

const makers = /sphinx|docbook|asciidoc|doxygen|mdbook|docusaurus|vitepress|vuepress|mkdocs|rustdoc|javadoc|starlight|gitbook|antora|hugo.{0,100}docsy|texinfo|makeinfo|pandoc|docutils/i // prettier-ignore
const marks =
  /^(?:documentwrapper|rst-content|bd-article|theme-doc-markdown|md-content__inner|vp-doc|sl-markdown-content|rustdoc|docblock|sectionbody|refentry|refsect1|sect1|sect2|apicontent|programlisting|listingblock|manpage)$/

/** Recognizes elements that may come from a documentation tool. */
class Marked {
  /** Results by the `class` attribute, whose values repeat within a page. */
  readonly #byClass = new Map<string, boolean>()

  has(element: ElementNode): boolean {
    const { tag, attributes } = element
    if (tag === 'meta' && /^generator$/i.test(attribute(element, 'name')) && makers.test(attribute(element, 'content'))) return true // prettier-ignore
    const { id, class: names } = attributes
    if (id !== undefined && (id === 'documentation_options' || marks.test(id))) return true
    if (names === undefined) return false
    let known = this.#byClass.get(names)
    if (known === undefined) this.#byClass.set(names, (known = hasClass(element, marks)))
    return known
  }
}

/** Whether a page has marks or code anywhere, without which it is no reference; most pages have neither. */
function mayBeReference(page: ElementNode, marked: Marked): boolean {
  let found = 0
  const visit = (element: ElementNode): boolean => {
    if (technical.has(element.tag) && ++found >= minTechnical) return true
    return marked.has(element) || element.children.some((child) => isElement(child) && visit(child))
  }
  return visit(page)
}

/** Whether a documentation tool generated the page. */
function isGeneratedReference(page: ElementNode, core: ElementNode, marked: Marked): boolean {
  for (const element of elementsOf(page, (inner) => inner !== core)) if (marked.has(element)) return true
  return core.children.some((child) => isElement(child) && isNamed(child, marks))
}

const minTechnical = 8
const technical = wordSet('pre code kbd samp var tt')

/** Whether code and keys occur throughout the text. */
function looksLikeReference(core: ElementNode, letters: number): boolean {
  let found = 0
  for (const { tag } of elementsOf(core, ({ tag: inner }) => inner !== 'pre')) if (technical.has(tag)) found++
  return found >= minTechnical && found * 300 >= letters
}

const foreignTags = wordSet('nav form button dialog menu footer iframe')
const foreignRoles = /^(?:navigation|search|banner|contentinfo|dialog|menu|menubar|toolbar|tablist|button|alert)$/
const foreignNames = /^(?:.*(?:nav(?:bar|header|footer|igation)?|breadcrumbs?|sidebar|pagination|pager|headerlink|feedback|newsletter|subscribe|cookies?|share|social|related|sponsors?|promo|advert\w*|copy(?:-?btn|-?button)?|footer|edit-?(?:page|link|this)|skip-?link|last-?updated|comments?))$|^ads?$/i // prettier-ignore
const hiddenNames = /^(?:hidden|sr-only|visually-hidden|u-screenreader-only)$/i
const foreignIds =
  /^(?:nav|navbar|navigation|breadcrumbs?|sidebar|footer|comments|related|share|social|feedback|newsletter|ads?)$/i
const contents = /^(?:toc|contents|localtoc|table-?of-?contents)$/i

/** Code, and parts of tables, figures and definitions, whose class names describe their content. */
const named = wordSet('pre code samp tr td th thead tbody tfoot caption figure figcaption dt dd')

/** Whether an element is boilerplate: menus and notices around the text. */
function isForeign(element: ElementNode): boolean {
  const { tag, attributes } = element
  if (isSilent(element) || foreignTags.has(tag) || attributes['hidden'] !== undefined) return true
  if (foreignRoles.test(attributes['role'] ?? '') || attributes['aria-hidden'] === 'true') return true
  if (hasClass(element, hiddenNames)) return true
  if (named.has(tag)) return false
  // Only whole ids are compared, because section anchors may contain any word, such as `SQL-FOR-UPDATE-SHARE`.
  return foreignIds.test(attribute(element, 'id')) || hasClass(element, foreignNames)
}

const isNamed = (element: ElementNode, pattern: RegExp): boolean => {
  const { id } = element.attributes
  return (id !== undefined && pattern.test(id)) || hasClass(element, pattern)
}

/** Share of a page's text from which a list of links is its content. */
const most = 0.4

/** Whether an element is text, and not a list of links without a heading, for which the model decides. */
function isText(element: ElementNode, { all, linked }: Lengths, isGenerated: boolean, whole: number): boolean {
  if (isNamed(element, contents)) return isGenerated
  if (linked <= 0.7 * all || !/^(?:ul|ol|table|div)$/.test(element.tag)) return true
  return isGenerated && (all > most * whole || findElement(element, isHeading) !== undefined)
}

/** Whether a list of links refers to sections of its own page. */
function linksWithin(element: ElementNode, page: ElementNode): boolean {
  const link = findElement(element, ({ tag, attributes }) => tag === 'a' && attributes['href'] !== undefined)
  const [, fragment] = /#(.+)$/.exec(attribute(link ?? element, 'href')) ?? []
  return fragment !== undefined && findElement(page, ({ attributes }) => attributes['id'] === fragment || attributes['name'] === fragment) !== undefined // prettier-ignore
}

const isHeading = ({ tag }: ElementNode): boolean => /^h[1-6]$/.test(tag)

/** Maximum length of the part with the headline, in characters. */
const maxHeadLength = 800

/** Returns the part before the text at the end of `path` that contains the headline and notes about the page. */
function headOf(page: ElementNode, path: readonly ElementNode[], lengths: LengthsByElement): ElementNode[] {
  if (beginsWithHeadline(path.at(-1)!, page)) return []
  const isHeadline = ({ tag }: ElementNode) => tag === 'h1'
  for (const [at, above] of path.slice(0, -1).entries()) {
    const before = above.children.slice(0, above.children.indexOf(path[at + 1]!)).filter(isElement)
    const head = before.find((child) => isHeadline(child) || findElement(child, isHeadline) !== undefined)
    if (head) return lengths(head).all <= maxHeadLength ? [head] : []
  }
  return []
}
