/** The document tree of live pages and parsed HTML, the input of Markdown and structured extraction. */
import { replaceRuns } from '../../core/text/pieces.ts'

export interface TextNode {
  readonly text: string
}

export interface ElementNode {
  /** Local name in lower case. */
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: TreeNode[]
  /** Layout where the page's style differs from the default of the tag; live pages only. */
  readonly flow?: Flow
}

/** `block`: on its own lines; `apart`: inline, with a gap around it; `inline`: inline. */
export type Flow = 'block' | 'apart' | 'inline'

export type TreeNode = TextNode | ElementNode

export interface Tree {
  readonly root: ElementNode
  /** Base of relative URLs: the document's URL, or its `<base>`. */
  readonly baseUrl: string
}

/**
 * Deepest level of a tree. Builders attach deeper elements to the level above, as browsers do at 512, so that all code
 * on trees can recurse.
 */
export const maxDepth = 256

/** Splits a list of words into a set. */
export const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '))

/** Code, data and fallbacks, whose text is not part of the page's text. */
const silent = wordSet(
  'script style noscript template head title meta link base svg canvas object embed select option datalist textarea input math area param source track',
)

/** Compares a value because V8 optimizes property reads better than `in`. */
export const isElement = (node: TreeNode): node is ElementNode => (node as Partial<ElementNode>).tag !== undefined

/** Whether the element's text is invisible. */
/** Whether a node contains a character other than white space. */
export const hasText = (node: TreeNode): boolean =>
  isElement(node) ? node.children.some(hasText) : /\S/.test(node.text)

export const isSilent = (element: ElementNode): boolean => silent.has(element.tag)

export const attribute = (element: ElementNode, name: string): string => element.attributes[name] ?? ''

/** Returns the words of the `class` attribute. */
export function classes(element: ElementNode): readonly string[] {
  const names = element.attributes['class']
  if (names === undefined) return noClasses
  // The classes of one element are often read several times in a row.
  if (names !== latest.names) latest = { names, words: wordsOf(names) }
  return latest.words
}

const noClasses: readonly string[] = []
let latest = { names: '', words: noClasses }

/** Longer words name nothing, and patterns that match millions of characters throw a RangeError. */
const longestClass = 10_000
const isWord = ({ length }: string): boolean => length > 0 && length <= longestClass

/** Splits at white space; splitting at spaces is several times faster than at a pattern. */
const wordsOf = (text: string): string[] => text.split(uneasy.test(text) ? /\s/ : ' ').filter(isWord)

/** Whether a word of the `class` attribute matches. */
export function hasClass(element: ElementNode, pattern: RegExp): boolean {
  const words = element.attributes['class']
  if (words === undefined) return false
  // Most elements have a single class.
  if (words !== '' && !/\s/.test(words)) return isWord(words) && pattern.test(words)
  return classes(element).some((word) => pattern.test(word))
}

export const childElements = (element: ElementNode): ElementNode[] => element.children.filter(isElement)

/**
 * Returns `element` and its descendants in document order, without the children where `enter` returns false. An array,
 * because a generator takes several times as long.
 */
export function elementsOf(
  element: ElementNode,
  enter?: (element: ElementNode) => boolean,
  found: ElementNode[] = [],
): ElementNode[] {
  found.push(element)
  if (enter && !enter(element)) return found
  for (const child of element.children) if (isElement(child)) elementsOf(child, enter, found)
  return found
}

/** Returns the first descendant that matches, in document order; skips the children where `enter` returns false. */
export function findElement(
  element: ElementNode,
  matches: (element: ElementNode) => boolean,
  enter?: (element: ElementNode) => boolean,
): ElementNode | undefined {
  if (enter && !enter(element)) return undefined
  for (const child of element.children) {
    if (!isElement(child)) continue
    const found = matches(child) ? child : findElement(child, matches, enter)
    if (found) return found
  }
  return undefined
}

/** Returns all text below an element, unchanged. */
export function rawText(element: ElementNode): string {
  let text = ''
  for (const child of element.children) text += isElement(child) ? rawText(child) : child.text
  return text
}

/** Maximum number of nodes visited for a text of limited length: most of thousands may be empty. */
const maxVisits = 20_000

/** Returns the visible text as one line: blocks and line breaks become spaces, code and data are omitted. */
export function visibleText(node: TreeNode, limit = Infinity): string {
  const parts: string[] = []
  let length = 0
  let left = limit === Infinity ? Infinity : maxVisits
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

const phrasing = wordSet(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb rp rt rtc ruby s samp slot small span strike strong sub sup time tt u var wbr',
)

/** Whether an element is inline, without a gap around it. */
export function isPhrasing(element: ElementNode): boolean {
  return element.flow ? element.flow === 'inline' : phrasing.has(element.tag)
}

/** Collapses HTML white space (not no-break spaces) to single spaces. */
export const collapse = (text: string): string =>
  // Testing is cheaper than copying, and most texts need no change.
  uneven.test(text) ? replaceRuns(text, /[\t\n\f\r ]+/g, ' ') : text

const uneven = /[\t\n\f\r]| {2}/

/** Collapses all white space to single spaces. */
export const oneLine = (text: string): string => (uneasy.test(text) ? replaceRuns(text, /\s+/g, ' ') : text)

const uneasy = /[^\S ]| {2}/
