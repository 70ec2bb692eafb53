/** Rewrites the infoboxes of Fandom, whose labels are headings, as tables with a row for each label. */
import { childElements, type ElementNode, findElement, hasClass, isElement, type TreeNode } from '../tree.ts'

const isInfobox = (element: ElementNode): boolean => hasClass(element, /^portable-infobox$/)

/** Returns the same tree if it has no infobox. */
export const withInfoboxes = (root: ElementNode): ElementNode => (findElement(root, isInfobox) ? rewritten(root) : root)

const rewritten = (element: ElementNode): ElementNode => ({
  ...element,
  children: element.children.map((child) =>
    !isElement(child) ? child : isInfobox(child) ? { ...child, children: partsOf(child) } : rewritten(child),
  ),
})

/** Returns the parts of a box; adjacent rows form a table. */
function partsOf(box: ElementNode): TreeNode[] {
  const parts: TreeNode[] = []
  let rows: ElementNode[] = []
  const flush = () => {
    if (rows.length > 0) parts.push({ tag: 'table', attributes: {}, children: rows })
    rows = []
  }
  for (const node of nodesOf(box)) {
    const row = isElement(node) ? rowOf(node) : undefined
    if (row) rows.push(row)
    else if (isElement(node) || node.text.trim() !== '') {
      flush()
      parts.push(node)
    }
  }
  flush()
  return parts
}

/** Returns the nodes of a box and of its groups. */
const nodesOf = (element: ElementNode): TreeNode[] =>
  element.children.flatMap((child) => (isElement(child) && isGroup(child) ? nodesOf(child) : [child]))

const isGroup = (element: ElementNode): boolean =>
  hasClass(element, /^(?:pi-group|pi-section|pi-section-content|pi-panel|pi-smart-group)$/) && element.tag !== 'table'

/** Returns the row of a label with its value, of a title of a group, or of the parts of a smart group. */
function rowOf(element: ElementNode): ElementNode | undefined {
  const cells = childElements(element)
  if (hasClass(element, /^pi-header$/)) return row([cell('th', element.children, { colspan: '2' })])
  if (hasClass(element, /^pi-smart-group-(?:head|body)$/)) {
    const tag = hasClass(element, /^pi-smart-group-head$/) ? 'th' : 'td'
    return row(cells.map(({ children }) => cell(tag, children)))
  }
  if (!hasClass(element, /^pi-data$/)) return undefined
  const label = cells.find((child) => hasClass(child, /^pi-data-label$/))
  const values = element.children.filter((child) => child !== label)
  return row([cell('th', label?.children ?? []), cell('td', values)])
}

const row = (children: ElementNode[]): ElementNode => ({ tag: 'tr', attributes: {}, children })

const cell = (tag: 'td' | 'th', children: TreeNode[], attributes: ElementNode['attributes'] = {}): ElementNode => ({
  tag,
  attributes,
  children,
})
