/** Links and images of a page: absolute, in document order, each once. */
import { attribute, elementsOf, type ElementNode, isElement, type Tree, visibleText } from '../../extract/tree.ts'
import { imageAddress, resolveUrl } from '../../extract/address.ts'

export interface PageLink {
  readonly href: string
  readonly text: string
}

export interface PageImage {
  readonly src: string
  readonly alt: string
}

/** Template content is not part of the page; what stands in noscript is not there in a browser. */
const inPage = ({ tag }: ElementNode): boolean => tag !== 'template' && tag !== 'noscript'

export function linksOf(tree: Tree): PageLink[] {
  const links = new Map<string, PageLink>()
  for (const element of elementsOf(tree.root, inPage)) {
    if (element.tag !== 'a' && element.tag !== 'area') continue
    const typed = element.attributes['href']
    const href = typed === undefined ? undefined : resolveUrl(typed, tree.baseUrl)
    if (href === undefined || !/^(?:https?|ftp):/.test(href)) continue
    const text = nameOf(element)
    const known = links.get(href)
    // The first mention may be a picture; a later one says what it is.
    if (!known || (known.text === '' && text !== '')) links.set(href, { href, text })
  }
  return [...links.values()]
}

/** Characters of a link's text, and elements in it, that are looked at: links in links would be gone through again and again. */
const longestName = 5000
const mostElements = 500

/** What a link is called: its text, else what its pictures show, else its label. */
function nameOf(element: ElementNode): string {
  const text = visibleText(element, longestName)
  if (text !== '') return text
  return pictureIn(element) ?? (attribute(element, 'aria-label') || attribute(element, 'title') || attribute(element, 'alt')).trim() // prettier-ignore
}

function pictureIn(element: ElementNode): string | undefined {
  let left = mostElements
  for (const inner of elementsOf(element)) {
    const shown = inner.tag === 'img' ? attribute(inner, 'alt').trim() : ''
    if (shown !== '') return shown
    if (--left <= 0) return undefined
  }
  return undefined
}

export function imagesOf(tree: Tree): PageImage[] {
  const images = new Map<string, PageImage>()
  const visit = (element: ElementNode, picture?: ElementNode): void => {
    if (element.tag === 'img') {
      const src = imageAddress(element, tree.baseUrl, picture)
      const alt = attribute(element, 'alt').trim()
      if (src !== undefined && /^https?:/.test(src) && (!images.has(src) || images.get(src)!.alt === '')) images.set(src, { src, alt }) // prettier-ignore
      return
    }
    if (!inPage(element)) return
    const inside = element.tag === 'picture' ? element : picture
    for (const child of element.children) if (isElement(child)) visit(child, inside)
  }
  visit(tree.root)
  return [...images.values()]
}
