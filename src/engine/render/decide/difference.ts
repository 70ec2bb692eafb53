/** The difference between two versions of a page, as fetched and as rendered. */
import {
  attribute,
  type ElementNode,
  hasClass,
  isElement,
  isSilent,
  oneLine,
  type Tree,
  visibleText,
} from '../../extract/tree.ts'
import { resolveUrl } from '../../extract/urls.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Maximum number of texts to search for in the whole text, in addition to exact matches. */
const maxSearches = 500

/** Returns the texts and link URLs that are in `after` but not in `before`, in document order. */
export function newTexts(before: ElementNode, after: ElementNode): string[] {
  const known = new Set(textsOf(before))
  const whole = normalized(visibleText(before))
  let searchesLeft = maxSearches
  return textsOf(after).filter((text) => !known.has(text) && !(searchesLeft-- > 0 && whole.includes(text)))
}

function textsOf(element: ElementNode): string[] {
  const texts: string[] = []
  const visit = (current: ElementNode): void => {
    if (isSilent(current)) return
    const href = current.tag === 'a' ? attribute(current, 'href') : ''
    if (href !== '' && !href.startsWith('#')) texts.push(href)
    for (const child of current.children) {
      if (isElement(child)) visit(child)
      else if (child.text.trim() !== '') texts.push(normalized(child.text))
    }
  }
  visit(element)
  return texts
}

const normalized = (text: string): string => oneLine(text).trim()

interface PageVersion {
  readonly tree: Tree
  readonly links: readonly string[]
}

interface RenderedVersion extends PageVersion {
  readonly url: string
  /** The requested part of the page. */
  readonly content: ElementNode
}

/** Characters that scripts may add without the page counting as changed. */
const ignoredChars = 4
const ignoredCharsUnpromised = 60

interface ComparisonOptions {
  /** The markup suggests missing content. Short new texts then count, such as a price; elsewhere they may be a clock. */
  readonly isPromised: boolean
  /** Links are in the output, including those of menus. */
  readonly allLinks: boolean
}

/** Content that rendering adds to a page, as plain data. */
export interface Comparison {
  /** Whether it adds text; links are only compared if not. */
  readonly text: boolean
  /** Number of links to the host of the page, and how many of them were added outside of menus. */
  readonly links: number
  readonly added: number
  /** Links that were added in menus: they count only if they lead to unknown pages. */
  readonly inMenus: readonly string[]
}

/** Returns whether rendering adds text or links; `isKnown` returns whether the crawl has already found a URL. */
export const showsMore = ({ text, links, added, inMenus }: Comparison, isKnown: (url: URL) => boolean): boolean =>
  text || added + inMenus.filter((href) => !isKnown(new URL(href))).length > Math.max(2, links * 0.05)

/** Compares a page as fetched and as rendered. */
export function compareForms(
  fetched: PageVersion,
  rendered: RenderedVersion,
  { isPromised, allLinks }: ComparisonOptions,
): Comparison {
  const length = newTexts(fetched.tree.root, rendered.content).reduce((sum, text) => sum + text.length, 0)
  if (length > (isPromised ? ignoredChars : ignoredCharsUnpromised))
    return { text: true, links: 0, added: 0, inMenus: [] }
  const sent = new Set(fetched.links)
  const menus = allLinks ? new Set<string>() : menuLinks(rendered.tree)
  const { host } = new URL(rendered.url)
  const sameHost = rendered.links.filter((href) => parseUrl(href)?.host === host)
  const added = sameHost.filter((href) => !sent.has(href))
  const inMenus = added.filter((href) => menus.has(href))
  return { text: false, links: sameHost.length, added: added.length - inMenus.length, inMenus }
}

const menuTags = new Set(['nav', 'header', 'footer', 'aside', 'menu'])
const menuRoles = /^(?:navigation|menu|menubar|banner|contentinfo|complementary|tree)$/
const menuName = /^(?:.*[-_])?(?:nav(?:bar|igation)?|menu|sidebar|toc|breadcrumbs?)$/i

function menuLinks({ root, baseUrl }: Tree): ReadonlySet<string> {
  const urls = new Set<string>()
  const visit = (element: ElementNode, isInMenu: boolean): void => {
    const isMenu =
      isInMenu ||
      menuTags.has(element.tag) ||
      menuRoles.test(attribute(element, 'role')) ||
      hasClass(element, menuName) ||
      menuName.test(attribute(element, 'id'))
    const href = isMenu && element.tag === 'a' ? element.attributes['href'] : undefined
    const url = href === undefined ? undefined : resolveUrl(href, baseUrl)
    if (url !== undefined) urls.add(url)
    for (const child of element.children) if (isElement(child)) visit(child, isMenu)
  }
  visit(root, false)
  return urls
}
