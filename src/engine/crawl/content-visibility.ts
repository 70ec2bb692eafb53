/** Two readings of one page, held against each other. */
import { resolveUrl } from '../extract/address.ts'
import { attribute, type ElementNode, hasClass, isElement, type Tree } from '../extract/tree.ts'
import { newTexts } from '../render/decide/difference.ts'
import { contentOf } from '../scrape/content/content.ts'
import { linksOf } from '../scrape/formats/links.ts'
import type { ObtainedPage } from '../scrape/load-page.ts'
import { isLarge } from '../scrape/reading.ts'

/** Whether both are of a size to be looked at here: what is larger was read in a thread. */
export const areComparable = (fetched: ObtainedPage, rendered: ObtainedPage): boolean =>
  [fetched, rendered].every(({ reading }) => !isLarge({ length: reading?.size ?? 0 }))

/** Characters that scripts may add to a page without making it another. */
const trifle = 4
const trifleUnasked = 60

export interface ShowingOptions {
  readonly onlyMain: boolean
  /** The markup promises more: then a price is enough, while a clock is not for other pages. */
  readonly promised: boolean
  /** Links are an output, those of menus too. */
  readonly allLinks: boolean
  /** Whether the crawl knows an address already. */
  readonly isKnown: (url: URL) => boolean
}

/**
 * Whether a browser shows more of a page than was sent: text of the part that is wanted, or links. Menus that a script
 * adds count only if they lead to pages that are unknown.
 */
export async function showsMore(
  fetched: ObtainedPage,
  rendered: ObtainedPage,
  { onlyMain, promised, allLinks, isKnown }: ShowingOptions,
): Promise<boolean> {
  const { tree } = await contentOf(rendered.document, { onlyMain, inlineImages: false, headline: true })
  const length = newTexts(fetched.document.tree.root, tree.root).reduce((sum, text) => sum + text.length, 0)
  if (length > (promised ? trifle : trifleUnasked)) return true
  const sent = new Set(linksOf(fetched.document.tree).map(({ href }) => href))
  const inMenus = allLinks ? new Set<string>() : menuLinks(rendered.document.tree)
  const host = new URL(rendered.url).host
  const own = linksOf(rendered.document.tree).filter(({ href }) => URL.canParse(href) && new URL(href).host === host)
  const fresh = own.filter(({ href }) => !sent.has(href) && !(inMenus.has(href) && isKnown(new URL(href)))).length
  return fresh > Math.max(2, own.length * 0.05)
}

const menuTags = new Set(['nav', 'header', 'footer', 'aside', 'menu'])
const menuRoles = /^(?:navigation|menu|menubar|banner|contentinfo|complementary|tree)$/
const menuName = /^(?:.*[-_])?(?:nav(?:bar|igation)?|menu|sidebar|toc|breadcrumbs?)$/i

/** Addresses of links that stand in a menu. */
function menuLinks({ root, baseUrl }: Tree): ReadonlySet<string> {
  const addresses = new Set<string>()
  const visit = (element: ElementNode, isInMenu: boolean): void => {
    const isMenu = isInMenu || menuTags.has(element.tag) || menuRoles.test(attribute(element, 'role')) || hasClass(element, menuName) || menuName.test(attribute(element, 'id')) // prettier-ignore
    const href = isMenu && element.tag === 'a' ? element.attributes['href'] : undefined
    const address = href === undefined ? undefined : resolveUrl(href, baseUrl)
    if (address !== undefined) addresses.add(address)
    for (const child of element.children) if (isElement(child)) visit(child, isMenu)
  }
  visit(root, false)
  return addresses
}
