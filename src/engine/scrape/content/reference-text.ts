/**
 * Reference texts (documentation, manuals) as they were written. The judge of main content looks at every block by itself
 * and is content with most of the words; a manual that lacks an example here and a signature there is of no use. Where a
 * page is such a text, and most of it was judged to be content, all of it is, but for what is plainly something else.
 */
import { prune } from '../../extract/main-content/prune.ts'
import {
  attribute,
  classes,
  type ElementNode,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  isSilent,
  type TextNode,
} from '../../extract/tree.ts'
import { beginsWithHeadline } from './with-title.ts'

/** Text of an element in letters: all of it, what was judged to be content, what stands in links. */
interface Mass {
  all: number
  kept: number
  linked: number
}

type Masses = ReadonlyMap<ElementNode, Mass>

/** The share of a text that must have been judged to be content, where its maker is known, and where it is guessed. */
const knownShare = 0.35
const guessedShare = 0.8

/** `content` (a part of `page`) with what it lacks of a reference text; as it is when the page holds none. */
export function wholeReference(page: ElementNode, content: ElementNode): ElementNode {
  const kept = new Set<TextNode>(textsOf(content))
  const masses = weigh(page, kept)
  // What only pages without scripts show is not weighed.
  if (masses.get(page)!.kept === 0) return content
  const path = pathToCore(page, masses)
  const core = path.at(-1)!
  const isMade = isMadeAsReference(page, core)
  if (!isMade && !looksLikeReference(core, masses.get(core)!.all)) return content
  const isEnough = (element: ElementNode) => {
    const { all, kept: judged, linked } = masses.get(element)!
    // Contents, indexes and the like are links: they say nothing of the text.
    return judged >= (isMade ? (all - linked) * knownShare : all * guessedShare)
  }
  if (!isEnough(core)) return content
  if (isMade) widen(path, isEnough)
  const text = path.at(-1)!
  const whole = masses.get(text)!.all
  const isOwn = (element: ElementNode) =>
    !isForeign(element) && !isMenu(element) && isText(element, masses.get(element)!, isMade, whole)
  // Contents of the text that follows are a menu too, whatever was thought of them.
  const isMenu = (element: ElementNode) => isMade && isNamed(element, contents) && leadsWithin(element, page)
  const judged = [...textsOf(page, (element) => !isMenu(element))].filter((node) => kept.has(node))
  const parts = [text, ...(isMade ? headOf(page, path, masses) : [])]
  return prune(page, [{ nodes: [...judged, ...parts.flatMap((part) => [...textsOf(part, isOwn)])] }])
}

/** Goes up from the end of `path` to what the tool marks as all of the text, as long as that is content enough. */
function widen(path: ElementNode[], isEnough: (element: ElementNode) => boolean): void {
  for (let above = path.at(-2); above && !isWhole(path.at(-1)!); above = path.at(-2)) {
    if (above.tag === 'body' || !isEnough(above)) return
    path.pop()
  }
}

const isWhole = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:main|article|body)$/.test(tag) || attributes['role'] === 'main'

const isListing = ({ tag }: ElementNode): boolean => tag === 'pre' || tag === 'code' || tag === 'samp'

/** In code, names of classes are those of a highlighter. */
const isShown = (element: ElementNode): boolean => !isSilent(element)

function* textsOf(element: ElementNode, enter: (element: ElementNode) => boolean = () => true): Generator<TextNode> {
  for (const child of element.children) {
    if (!isElement(child)) yield child
    else if (enter(child)) yield* textsOf(child, isListing(child) ? isShown : enter)
  }
}

function weigh(page: ElementNode, kept: ReadonlySet<TextNode>): Masses {
  const masses = new Map<ElementNode, Mass>()
  const visit = (element: ElementNode): Mass => {
    const mass: Mass = { all: 0, kept: 0, linked: 0 }
    masses.set(element, mass)
    if (isSilent(element)) return mass
    for (const child of element.children) {
      if (isElement(child)) {
        const inner = visit(child)
        mass.all += inner.all
        mass.kept += inner.kept
        mass.linked += child.tag === 'a' ? inner.all : inner.linked
      } else {
        const letters = child.text.trim().length
        mass.all += letters
        if (kept.has(child)) mass.kept += letters
      }
    }
    return mass
  }
  visit(page)
  return masses
}

/** Elements from `page` down to the smallest one that holds nearly all of the content. */
function pathToCore(page: ElementNode, masses: Masses): ElementNode[] {
  const enough = masses.get(page)!.kept * 0.9
  const path = [page]
  for (;;) {
    const inner = path
      .at(-1)!
      .children.filter(isElement)
      .find((child) => masses.get(child)!.kept >= enough)
    if (!inner) return path
    path.push(inner)
  }
}

const makers = /sphinx|docbook|asciidoc|doxygen|mdbook|docusaurus|vitepress|vuepress|mkdocs|rustdoc|javadoc|starlight|gitbook|antora|hugo.{0,100}docsy|texinfo|makeinfo|pandoc|docutils/i // prettier-ignore
const marks =
  /^(?:documentwrapper|rst-content|bd-article|theme-doc-markdown|md-content__inner|vp-doc|sl-markdown-content|rustdoc|docblock|sectionbody|refentry|refsect1|sect1|sect2|apicontent|programlisting|listingblock|manpage)$/

/** Whether a documentation tool made the page. */
function isMadeAsReference(page: ElementNode, core: ElementNode): boolean {
  for (const element of elementsOf(page, (inner) => inner !== core)) {
    if (element.tag === 'meta' && /^generator$/i.test(attribute(element, 'name')) && makers.test(attribute(element, 'content'))) return true // prettier-ignore
    if (attribute(element, 'id') === 'documentation_options' || isNamed(element, marks)) return true
  }
  return core.children.some((child) => isElement(child) && isNamed(child, marks))
}

const technical = new Set('pre code kbd samp var tt'.split(' '))

/** Code and keys all over the text. */
function looksLikeReference(core: ElementNode, letters: number): boolean {
  let found = 0
  for (const { tag } of elementsOf(core, ({ tag: inner }) => inner !== 'pre')) if (technical.has(tag)) found++
  return found >= 8 && found * 300 >= letters
}

const foreignTags = new Set('nav form button dialog menu footer iframe'.split(' '))
const foreignRoles = /^(?:navigation|search|banner|contentinfo|dialog|menu|menubar|toolbar|tablist|button|alert)$/
const foreignNames = /^(?:.*(?:nav(?:bar|header|footer|igation)?|breadcrumbs?|sidebar|pagination|pager|headerlink|feedback|newsletter|subscribe|cookies?|share|social|related|sponsors?|promo|advert\w*|copy(?:-?btn|-?button)?|footer|edit-?(?:page|link|this)|skip-?link|last-?updated|comments?))$|^ads?$/i // prettier-ignore
const hiddenNames = /^(?:hidden|sr-only|visually-hidden|u-screenreader-only)$/i
const foreignIds =
  /^(?:nav|navbar|navigation|breadcrumbs?|sidebar|footer|comments|related|share|social|feedback|newsletter|ads?)$/i
const contents = /^(?:toc|contents|localtoc|table-?of-?contents)$/i

/** Code, and parts of tables, figures and definitions: their names are about what is in them. */
const named = new Set('pre code samp tr td th thead tbody tfoot caption figure figcaption dt dd'.split(' '))

/** What nobody would look for in a text: the menus and notes of the page around it. */
function isForeign(element: ElementNode): boolean {
  const { tag, attributes } = element
  if (isSilent(element) || foreignTags.has(tag) || attributes['hidden'] !== undefined) return true
  if (foreignRoles.test(attributes['role'] ?? '') || attributes['aria-hidden'] === 'true') return true
  if (hasClass(element, hiddenNames)) return true
  if (named.has(tag)) return false
  // Anchors of sections have names of all kinds, `SQL-FOR-UPDATE-SHARE`.
  return foreignIds.test(attribute(element, 'id')) || classes(element).some((name) => foreignNames.test(name))
}

const isNamed = (element: ElementNode, pattern: RegExp): boolean =>
  pattern.test(attribute(element, 'id')) || classes(element).some((name) => pattern.test(name))

/** The share of a page's text from which on a list of links is what the page is about. */
const most = 0.4

/** Lists of links are left to the judge: they are menus as often as content. A part with a heading of its own is none. */
function isText(element: ElementNode, { all, linked }: Mass, isMade: boolean, whole: number): boolean {
  if (isNamed(element, contents)) return isMade
  if (linked <= 0.7 * all || !/^(?:ul|ol|table|div)$/.test(element.tag)) return true
  return isMade && (all > most * whole || findElement(element, isHeading) !== undefined)
}

/** Whether a list of links is about the page that it stands on. */
function leadsWithin(element: ElementNode, page: ElementNode): boolean {
  const link = findElement(element, ({ tag, attributes }) => tag === 'a' && attributes['href'] !== undefined)
  const [, fragment] = /#(.+)$/.exec(attribute(link ?? element, 'href')) ?? []
  return fragment !== undefined && findElement(page, ({ attributes }) => attributes['id'] === fragment || attributes['name'] === fragment) !== undefined // prettier-ignore
}

const isHeading = ({ tag }: ElementNode): boolean => /^h[1-6]$/.test(tag)

/** No more than this stands between a headline and its text. */
const longestHead = 800

/** The part in front of the text at the end of `path` that holds the headline, with what is said of the page there. */
function headOf(page: ElementNode, path: readonly ElementNode[], masses: Masses): ElementNode[] {
  if (beginsWithHeadline(path.at(-1)!, page)) return []
  const isHeadline = ({ tag }: ElementNode) => tag === 'h1'
  for (const [at, above] of path.slice(0, -1).entries()) {
    const before = above.children.slice(0, above.children.indexOf(path[at + 1]!)).filter(isElement)
    const head = before.find((child) => isHeadline(child) || findElement(child, isHeadline) !== undefined)
    if (head) return masses.get(head)!.all <= longestHead ? [head] : []
  }
  return []
}
