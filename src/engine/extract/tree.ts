/** One small tree for a live page and for parsed HTML: what Markdown and structured extraction work on. */

export interface TextNode {
  readonly text: string
}

export interface ElementNode {
  /** Local name in lower case. */
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: TreeNode[]
  /** How the page's style lays the element out where its tag says otherwise; only a live page knows. */
  readonly flow?: Flow
}

/** `block`: on lines of its own; `apart`: in the line, with a gap around it; `inline`: in the line. */
export type Flow = 'block' | 'apart' | 'inline'

export type TreeNode = TextNode | ElementNode

export interface Tree {
  readonly root: ElementNode
  /** What relative addresses are resolved against: the document's address, or its `<base>`. */
  readonly baseUrl: string
}

/**
 * Deepest level of a tree. Makers hang deeper elements onto the level above, as browsers do at 512;
 * all code on trees may therefore recurse.
 */
export const maxDepth = 256

/** Code, data and fallbacks: their text is not the page's text. */
const silent = new Set(
  'script style noscript template head title meta link base svg canvas object embed select option datalist textarea input math area param source track'.split(
    ' ',
  ),
)

/** Asks for a value, which V8 answers at once where it has to look for a name (`in`) each time. */
export const isElement = (node: TreeNode): node is ElementNode => (node as Partial<ElementNode>).tag !== undefined

/** Whether the element's text is no part of what a reader sees. */
export const isSilent = (element: ElementNode): boolean => silent.has(element.tag)

export const attribute = (element: ElementNode, name: string): string => element.attributes[name] ?? ''

/** Words of the `class` attribute. */
export function classes(element: ElementNode): string[] {
  return element.attributes['class']?.split(/\s+/).filter(Boolean) ?? []
}

/** Whether a word of the `class` attribute matches. */
export const hasClass = (element: ElementNode, pattern: RegExp): boolean =>
  element.attributes['class'] !== undefined && classes(element).some((word) => pattern.test(word))

/** Elements among the children. */
export const childElements = (element: ElementNode): ElementNode[] => element.children.filter(isElement)

/** Every descendant element in document order, `element` first; `enter` false keeps out of an element's children. */
export function* elementsOf(
  element: ElementNode,
  enter: (element: ElementNode) => boolean = () => true,
): Generator<ElementNode> {
  const stack = [element]
  for (let current = stack.pop(); current; current = stack.pop()) {
    yield current
    if (!enter(current)) continue
    for (let at = current.children.length - 1; at >= 0; at--) {
      const child = current.children[at]!
      if (isElement(child)) stack.push(child)
    }
  }
}

/** The first descendant that matches, in document order. */
export function findElement(
  element: ElementNode,
  matches: (element: ElementNode) => boolean,
  enter?: (element: ElementNode) => boolean,
): ElementNode | undefined {
  for (const found of elementsOf(element, enter)) if (found !== element && matches(found)) return found
  return undefined
}

/** All text below an element as it stands in the source. */
export function rawText(element: ElementNode): string {
  let text = ''
  for (const child of element.children) text += isElement(child) ? rawText(child) : child.text
  return text
}

/** Nodes looked at for a text of limited length: thousands of empty ones are not followed again and again. */
const mostVisits = 20_000

/** What a reader sees as one line: blocks and line breaks become spaces, code and data are left out. */
export function visibleText(node: TreeNode, limit = Infinity): string {
  const parts: string[] = []
  let length = 0
  let left = limit === Infinity ? Infinity : mostVisits
  const visit = (current: TreeNode): void => {
    if (length > limit || left-- <= 0) return
    if (!isElement(current)) {
      parts.push(current.text)
      length += current.text.length
      return
    }
    if (isSilent(current)) return
    const spaced = !isPhrasing(current)
    if (spaced) parts.push(' ')
    for (const child of current.children) visit(child)
    if (spaced) parts.push(' ')
  }
  visit(node)
  return collapse(parts.join('')).trim()
}

const phrasing = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb rp rt rtc ruby s samp slot small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)

/** Whether an element stands in a line of text without a gap around it. */
export function isPhrasing(element: ElementNode): boolean {
  return element.flow ? element.flow === 'inline' : phrasing.has(element.tag)
}

/** White space of HTML (not the no-break space) as single spaces. */
export const collapse = (text: string): string =>
  // Most texts are even already, and looking costs less than copying.
  uneven.test(text) ? text.replaceAll(/[\t\n\f\r ]+/g, ' ') : text

const uneven = /[\t\n\f\r]| {2}/

/** White space of all sorts as single spaces. */
export const oneLine = (text: string): string => (uneasy.test(text) ? text.replaceAll(/\s+/g, ' ') : text)

const uneasy = /[^\S ]| {2}/
