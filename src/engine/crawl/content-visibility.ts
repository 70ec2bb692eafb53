/** Compares a fetched page with its rendered form, for the rendering policy in `decide-rendering.ts`. */
import { resolveUrl } from '../extract/urls.ts'
import { attribute, type ElementNode, hasClass, isElement, type Tree } from '../extract/tree.ts'
import { newTexts } from '../render/decide/difference.ts'
import { contentOf } from '../scrape/content/content.ts'
import { linksOf } from '../scrape/formats/links.ts'
import type { LoadedPage } from '../scrape/loaded-page.ts'
import { isLarge } from '../scrape/reading.ts'

/** Returns whether both are small enough to compare on this thread: larger ones were read in a worker thread. */
export const areComparable = (fetched: LoadedPage, rendered: LoadedPage): boolean =>
  [fetched, rendered].every(({ reading }) => !isLarge({ length: reading?.size ?? 0 }))

/** Characters that scripts may add without the page counting as changed. */
const ignoredChars = 4
const ignoredCharsUnpromised = 60

export interface ComparisonOptions {
  readonly onlyMain: boolean
  /** The markup suggests missing content. Short new texts then count, such as a price; elsewhere they may be a clock. */
  readonly isPromised: boolean
  /** Links are in the output, including those of menus. */
  readonly allLinks: boolean
  /** Returns whether the crawl has already found a URL. */
  readonly isKnown: (url: URL) => boolean
}

/** Returns whether rendering adds text or links. Links in menus count only if they lead to unknown pages. */
export async function showsMore(
  fetched: LoadedPage,
  rendered: LoadedPage,
  { onlyMain, isPromised, allLinks, isKnown }: ComparisonOptions,
): Promise<boolean> {
  const { tree } = await contentOf(rendered.document, { onlyMain, inlineImages: false, headline: true })
  const length = newTexts(fetched.document.tree.root, tree.root).reduce((sum, text) => sum + text.length, 0)
  if (length > (isPromised ? ignoredChars : ignoredCharsUnpromised)) return true
  const sent = new Set(linksOf(fetched.document.tree).map(({ href }) => href))
  const inMenus = allLinks ? new Set<string>() : menuLinks(rendered.document.tree)
  const host = new URL(rendered.url).host
  const sameHost = linksOf(rendered.document.tree).filter(
    ({ href }) => URL.canParse(href) && new URL(href).host === host,
  )
  const added = sameHost.filter(({ href }) => !sent.has(href) && !(inMenus.has(href) && isKnown(new URL(href)))).length
  return added > Math.max(2, sameHost.length * 0.05)
}

const menuTags = new Set(['nav', 'header', 'footer', 'aside', 'menu'])
const menuRoles = /^(?:navigation|menu|menubar|banner|contentinfo|complementary|tree)$/
const menuName = /^(?:.*[-_])?(?:nav(?:bar|igation)?|menu|sidebar|toc|breadcrumbs?)$/i

function menuLinks({ root, baseUrl }: Tree): ReadonlySet<string> {
  const urls = new Set<string>()
  const visit = (element: ElementNode, isInMenu: boolean): void => {
    const isMenu = isInMenu || menuTags.has(element.tag) || menuRoles.test(attribute(element, 'role')) || hasClass(element, menuName) || menuName.test(attribute(element, 'id')) // prettier-ignore
    const href = isMenu && element.tag === 'a' ? element.attributes['href'] : undefined
    const url = href === undefined ? undefined : resolveUrl(href, baseUrl)
    if (url !== undefined) urls.add(url)
    for (const child of element.children) if (isElement(child)) visit(child, isMenu)
  }
  visit(root, false)
  return urls
}
