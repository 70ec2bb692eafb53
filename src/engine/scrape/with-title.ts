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
} from '../extract/tree.ts'

/** Puts the headline of `page` in front of `content` when it was left out, and is what the page calls itself. */
export function withTitle(content: ElementNode, page: ElementNode): ElementNode {
  if (findElement(content, ({ tag }) => tag === 'h1')) return content
  const headline = findElement(page, isHeadline)
  const text = headline ? plain(visibleText(headline)) : ''
  if (!headline || text === '' || text.length > 300 || !namesPage(text, page)) return content
  const first = findElement(content, ({ tag }) => /^h[2-6]$/.test(tag))
  if (first && plain(visibleText(first)) === text) return content
  return inBody(content, headline)
}

const isHeadline = (element: ElementNode): boolean => element.tag === 'h1' && attribute(element, 'hidden') === ''

/** Whether the page's title or its Open Graph name says the same. */
function namesPage(text: string, page: ElementNode): boolean {
  for (const element of elementsOf(page, ({ tag }) => tag !== 'body')) {
    const said = element.tag === 'title' ? rawText(element) : /^(?:og|twitter):title$/.test(attribute(element, 'property') || attribute(element, 'name')) ? attribute(element, 'content') : '' // prettier-ignore
    const name = plain(said)
    if (name !== '' && (name.includes(text) || (text.includes(name) && name.length > 12))) return true
  }
  return false
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
