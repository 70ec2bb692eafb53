/** Main content with the page's own headline: a text without its title does not read like the original. */
import {
  attribute,
  collapse,
  type ElementNode,
  elementsOf,
  findElement,
  isElement,
  rawText,
  visibleText,
} from '../../extract/tree.ts'

/** Puts the headline of `page` in front of `content` when it was left out, and is what the page calls itself. */
export function withTitle(content: ElementNode, page: ElementNode): ElementNode {
  if (beginsWithHeadline(content, page)) return content
  const headline = findElement(page, isHeadline) ?? lesserHeadline(page)
  const text = headline ? plain(visibleText(headline)) : ''
  if (!headline || text === '' || text.length > 300 || !namesOf(page).some((name) => names(name, text))) return content
  return inBody(content, headline)
}

/** Whether a text has its headline: an h1, or a first heading with which the title of its page begins. */
export function beginsWithHeadline(content: ElementNode, page: ElementNode): boolean {
  if (findElement(content, isHeadline)) return true
  const first = findElement(content, isLesser)
  const text = first ? plain(visibleText(first)) : ''
  return text !== '' && namesOf(page).some((name) => name.startsWith(text))
}

const isShown = ({ attributes }: ElementNode): boolean => attributes['hidden'] === undefined
const isHeadline = (element: ElementNode): boolean => element.tag === 'h1' && isShown(element)
const isLesser = (element: ElementNode): boolean => /^h[2-6]$/.test(element.tag) && isShown(element)

/** Of a page without an h1, the heading that is the better part of its title: sections of a book begin with one. */
function lesserHeadline(page: ElementNode): ElementNode | undefined {
  const said = namesOf(page)
  return findElement(page, (element) => {
    if (!isLesser(element)) return false
    const text = plain(visibleText(element, 300))
    return text !== '' && said.some((name) => name.includes(text) && text.length * 2 >= name.length)
  })
}

const names = (name: string, text: string): boolean => name.includes(text) || (text.includes(name) && name.length > 12)

/** What the page is called by its title or its Open Graph name. */
function namesOf(page: ElementNode): string[] {
  const said: string[] = []
  for (const element of elementsOf(page, ({ tag }) => tag !== 'body')) {
    if (element.tag === 'title') said.push(rawText(element))
    else if (/^(?:og|twitter):title$/.test(attribute(element, 'property') || attribute(element, 'name')))
      said.push(attribute(element, 'content'))
  }
  return said.map(plain).filter((name) => name !== '')
}

const plain = (text: string): string =>
  collapse(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

function inBody(root: ElementNode, headline: ElementNode): ElementNode {
  const at = root.children.findIndex((child) => isElement(child) && child.tag === 'body')
  if (at < 0) return { ...root, children: [headline, ...root.children] }
  const body = root.children[at] as ElementNode
  return { ...root, children: root.children.with(at, { ...body, children: [headline, ...body.children] }) }
}
