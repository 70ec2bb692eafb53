/** Restores the headline of main content. */
import {
  attribute,
  collapse,
  type ElementNode,
  elementsOf,
  findElement,
  isElement,
  isSilent,
  rawText,
  visibleText,
} from '../../extract/tree.ts'
import { replaceRuns } from '../../../core/text/pieces.ts'

/** Prepends the headline of `page` to `selected` if it is missing, likely, and matches the title of the page. */
export function withTitle(
  selected: ElementNode,
  page: ElementNode,
  isLikely: (headline: ElementNode) => boolean,
): ElementNode {
  const titles = namesOf(page)
  const content = withoutNameOfSite(selected, titles)
  const first = findElement(content, isHeadline)
  const found = [...elementsOf(page)].filter(isHeadline)
  const hasTitle = found.some((heading) => isTitle(heading, titles, page))
  if (
    first
      ? !isBelowText(first, content) || hasHeadline(content, titles)
      : !hasTitle && beginsWithHeadline(content, page)
  )
    return content
  const headline = [...found, ...(found.length === 0 ? [lesserHeadline(page)] : [])]
    .filter((heading) => heading !== undefined)
    .find((heading) => namesPage(heading, titles) && (isTitle(heading, titles, page) || isLikely(heading)))
  if (!headline) return content
  const others = headingsOf(content)
  const text = textOf(headline)
  const copy = others.find((heading) => textOf(heading) === text)
  const hasCopy = copy !== undefined && lengthAbove(copy, content) <= maxAbove
  return hasCopy || namesSite(text, titles, others.map(textOf)) ? content : inBody(content, headline)
}

/** Maximum length of notes above a headline, in characters: the names of the manual and of the section. */
const maxAbove = 100

/** Returns content without the name of the site above its headline, and without a copy of the headline. */
function withoutNameOfSite(content: ElementNode, titles: readonly string[]): ElementNode {
  const [first, second] = headingsOf(content, 2)
  if (first?.tag !== 'h1' || !second) return content
  const text = textOf(first)
  const isAdjacent = () => lengthAbove(second, content) <= rawText(first).length
  const isCopy = second.tag === 'h1' && textOf(second) === text && isAdjacent()
  return isCopy || namesSite(text, titles, [textOf(second)]) ? without(content, first) : content
}

/** Whether a title is that of a section, which is among the headings, followed by this text. */
const namesSite = (text: string, titles: readonly string[], headings: readonly string[]): boolean =>
  text !== '' && titles.some((name) => name.endsWith(` ${text}`) && headings.includes(name.slice(0, -text.length - 1)))

/** Returns the headings of a text, or the first of them. */
function headingsOf(content: ElementNode, most = Infinity): ElementNode[] {
  const headings: ElementNode[] = []
  for (const element of elementsOf(content)) {
    if ((isHeadline(element) || isLesser(element)) && headings.push(element) === most) break
  }
  return headings
}

const textOf = (heading: ElementNode): string => plain(visibleText(heading))

const without = (element: ElementNode, dropped: ElementNode): ElementNode => ({
  ...element,
  children: element.children
    .filter((child) => child !== dropped)
    .map((child) => (isElement(child) ? without(child, dropped) : child)),
})

const hasHeadline = (content: ElementNode, titles: readonly string[]): boolean =>
  findElement(content, (element) => isHeadline(element) && namesPage(element, titles)) !== undefined

/** Whether text precedes a heading, which then is that of a section. */
const isBelowText = (heading: ElementNode, content: ElementNode): boolean => lengthAbove(heading, content) > 0

/** Returns the number of characters above a heading. */
function lengthAbove(heading: ElementNode, content: ElementNode): number {
  let length = 0
  const isReached = (element: ElementNode): boolean =>
    element.children.some((child) => {
      if (!isElement(child)) length += child.text.trim().length
      return child === heading || (isElement(child) && !isSilent(child) && isReached(child))
    })
  isReached(content)
  return length
}

const namesPage = (headline: ElementNode, titles: readonly string[]): boolean => {
  const text = plain(visibleText(headline))
  return text !== '' && text.length <= 300 && titles.some((name) => names(name, text))
}

/** Minimum share of the length of a title that a headline makes up without beginning it. */
const minTitleShare = 0.5

/** Whether a headline is the title of its page, apart from the names of the site and of its sections. */
function isTitle(headline: ElementNode, titles: readonly string[], page: ElementNode): boolean {
  const text = plain(visibleText(headline))
  if (headline.tag !== 'h1' || !text.includes(' ') || text === plain(siteNameOf(page))) return false
  return titles.some(
    (name) =>
      startsWith(name, text) ||
      Math.min(name.length, text.length) >= minTitleShare * Math.max(name.length, text.length),
  )
}

const siteNameOf = (page: ElementNode): string => {
  const site = findElement(page, (element) => attribute(element, 'property') === 'og:site_name')
  return site ? attribute(site, 'content') : ''
}

/** Whether a text has its headline: an h1, or a first heading that is a prefix of the page's title. */
export function beginsWithHeadline(content: ElementNode, page: ElementNode): boolean {
  if (findElement(content, isHeadline)) return true
  const first = findElement(content, isLesser)
  const text = first ? plain(visibleText(first)) : ''
  return text !== '' && namesOf(page).some((name) => startsWith(name, text))
}

const isShown = ({ attributes }: ElementNode): boolean => attributes['hidden'] === undefined
const isHeadline = (element: ElementNode): boolean => element.tag === 'h1' && isShown(element)
const isLesser = (element: ElementNode): boolean => /^h[2-6]$/.test(element.tag) && isShown(element)

/** Returns the heading of a page without an h1 that makes up most of its title, as in sections of a book. */
function lesserHeadline(page: ElementNode): ElementNode | undefined {
  const titles = namesOf(page)
  return findElement(page, (element) => {
    if (!isLesser(element)) return false
    const text = plain(visibleText(element, 300))
    return text !== '' && titles.some((name) => name.includes(text) && text.length * 2 >= name.length)
  })
}

/** Whether a text begins with whole words. */
const startsWith = (name: string, text: string): boolean => `${name} `.startsWith(`${text} `)

const names = (name: string, text: string): boolean =>
  name.includes(text) || (text.includes(name) && name.length > 12) || sharesWords(name, text) || isJoined(name, text)

/** Whether a text is the beginning of a title without spaces, as if drawn marks separate its words. */
const isJoined = (name: string, text: string): boolean =>
  !text.includes(' ') && name.replaceAll(' ', '').startsWith(text)

/** Minimum share of the words of a headline that are in the title of its page. */
const minShared = 2 / 3

function sharesWords(name: string, text: string): boolean {
  const known = new Set(name.split(' '))
  const words = text.split(' ')
  return words.length > 1 && words.filter((word) => known.has(word)).length >= minShared * words.length
}

/** Returns the titles of the page: `<title>`, Open Graph and Twitter. */
function namesOf(page: ElementNode): string[] {
  const titles: string[] = []
  for (const element of elementsOf(page, ({ tag }) => tag !== 'body')) {
    if (element.tag === 'title') titles.push(rawText(element))
    else if (/^(?:og|twitter):title$/.test(attribute(element, 'property') || attribute(element, 'name')))
      titles.push(attribute(element, 'content'))
  }
  return titles.map(plain).filter((name) => name !== '')
}

const plain = (text: string): string => replaceRuns(collapse(text).toLowerCase(), /[^\p{L}\p{N}]+/gu, ' ').trim()

function inBody(root: ElementNode, headline: ElementNode): ElementNode {
  const at = root.children.findIndex((child) => isElement(child) && child.tag === 'body')
  if (at < 0) return { ...root, children: [headline, ...root.children] }
  const body = root.children[at] as ElementNode
  return { ...root, children: root.children.with(at, { ...body, children: [headline, ...body.children] }) }
}
