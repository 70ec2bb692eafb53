/**
 * Reads pages of Doxygen by its markup: the headline is a `<div>`, and all text is in one element; the header and the
 * footer around it are those of a project, and contain any text.
 */
import { attribute, type ElementNode, findElement, hasClass, isElement } from '../../extract/tree.ts'

const isDoxygen = (page: ElementNode): boolean => findElement(page, isMark, ({ tag }) => tag !== 'body') !== undefined

/** Whether an element names Doxygen: the generator, or a style sheet in the headers that projects write. */
const isMark = (element: ElementNode): boolean =>
  element.tag === 'meta'
    ? /^generator$/i.test(attribute(element, 'name')) && /^doxygen/i.test(attribute(element, 'content'))
    : element.tag === 'link' && /(?:^|\/)doxygen\.css$/i.test(attribute(element, 'href'))

const isHead = (element: ElementNode): boolean => element.tag === 'div' && hasClass(element, /^headertitle$/)
const isText = (element: ElementNode): boolean => element.tag === 'div' && hasClass(element, /^contents$/)

/** Makes the title of a page its headline; other pages stay the same. */
export function withToolTitles(page: ElementNode): ElementNode {
  const head = isDoxygen(page) ? findElement(page, isHead) : undefined
  return head ? replaced(page, head, { ...head, children: head.children.map(asHeadline) }) : page
}

const asHeadline = <Node extends ElementNode['children'][number]>(node: Node): Node =>
  isElement(node) && node.tag === 'div' && hasClass(node, /^title$/) ? { ...node, tag: 'h1' } : node

function replaced(element: ElementNode, old: ElementNode, other: ElementNode): ElementNode {
  if (element === old) return other
  if (!findElement(element, (child) => child === old)) return element
  return {
    ...element,
    children: element.children.map((child) => (isElement(child) ? replaced(child, old, other) : child)),
  }
}

/** Returns `content` (a part of `page`) without the header and footer around the text of a tool. */
export function withinToolText(content: ElementNode, page: ElementNode): ElementNode {
  return findElement(content, isText) && isDoxygen(page) ? (within(content) ?? content) : content
}

function within(element: ElementNode): ElementNode | undefined {
  if (isText(element) || isHead(element)) return element
  const children = element.children.flatMap((child) => (isElement(child) ? (within(child) ?? []) : []))
  return children.length > 0 ? { ...element, children } : undefined
}
