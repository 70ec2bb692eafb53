/** Lists the links and images of a page: with absolute URLs, in document order, each once. */
import type { ScrapeData } from '../../../core/shapes/scrape.ts'
import { attribute, type ElementNode, findElement, isElement, type Tree, visibleText } from '../../extract/tree.ts'
import { imageUrl, resolveUrl } from '../../extract/urls.ts'

type PageLink = NonNullable<ScrapeData['links']>[number]
type PageImage = NonNullable<ScrapeData['images']>[number]

/** Whether an element's content is part of the page: that of `<template>` and `<noscript>` is not, in a browser. */
const inPage = ({ tag }: ElementNode): boolean => tag !== 'template' && tag !== 'noscript'

export function linksOf(tree: Tree): PageLink[] {
  const links = new Map<string, PageLink>()
  visitLinks(tree, (href, element) => {
    const text = nameOf(element)
    const known = links.get(href)
    // The first link to a URL may have no text, unlike a later one.
    if (!known || (known.text === '' && text !== '')) links.set(href, { href, text })
  })
  return [...links.values()]
}

/** Returns the URLs of the links, without their names, which take much longer to read. */
export function hrefsOf(tree: Tree): string[] {
  const hrefs = new Set<string>()
  visitLinks(tree, (href) => hrefs.add(href))
  return [...hrefs]
}

function visitLinks({ root, baseUrl }: Tree, onLink: (href: string, element: ElementNode) => void): void {
  const visit = (element: ElementNode, inSvg: boolean): void => {
    if (element.tag === 'a' || element.tag === 'area') {
      const typed = element.attributes['href'] ?? (inSvg ? element.attributes['xlink:href'] : undefined)
      const href = typed === undefined ? undefined : resolveUrl(typed, baseUrl)
      if (href !== undefined && /^(?:https?|ftp):/.test(href)) onLink(href, element)
    }
    if (!inPage(element)) return
    const inside = element.tag === 'svg' || (inSvg && element.tag !== 'foreignobject')
    for (const child of element.children) if (isElement(child)) visit(child, inside)
  }
  visit(root, false)
}

/** Maximum characters and elements read from a link, because nested links are read repeatedly. */
const maxNameLength = 5000
const maxElements = 500

/** Returns the name of a link: its text, else the text alternative of an image in it, else its label. */
function nameOf(element: ElementNode): string {
  const text = visibleText(element, maxNameLength)
  if (text !== '') return text
  return (
    imageAlt(element) ??
    (attribute(element, 'aria-label') || attribute(element, 'title') || attribute(element, 'alt')).trim()
  )
}

function imageAlt(element: ElementNode): string | undefined {
  let left = maxElements - 1
  let alt = ''
  findElement(element, (inner) => {
    alt = left-- > 0 ? altOf(inner) : ''
    return left < 0 || alt !== ''
  })
  return alt || undefined
}

const altOf = (element: ElementNode): string => (element.tag === 'img' ? attribute(element, 'alt').trim() : '')

export function imagesOf(tree: Tree): PageImage[] {
  const images = new Map<string, PageImage>()
  const visit = (element: ElementNode, picture?: ElementNode): void => {
    if (element.tag === 'img') {
      const src = imageUrl(element, tree.baseUrl, picture)
      const alt = attribute(element, 'alt').trim()
      if (src !== undefined && /^https?:/.test(src) && !images.get(src)?.alt) images.set(src, { src, alt })
      return
    }
    if (!inPage(element)) return
    const inside = element.tag === 'picture' ? element : picture
    for (const child of element.children) if (isElement(child)) visit(child, inside)
  }
  visit(tree.root)
  return [...images.values()]
}
