/** Reads lists: items, misplaced nodes between them, check boxes, terms and definitions. */
import { childElements, type ElementNode, isElement, type TreeNode } from '../tree.ts'
import { isSkipped } from './context.ts'

export interface ItemGroup {
  /** The `<li>`; undefined for nodes before the first one. */
  readonly item: ElementNode | undefined
  readonly nodes: TreeNode[]
}

/** Returns the items of a list; a list between two items belongs to the first of them. */
export function itemsOf(list: ElementNode): ItemGroup[] {
  const groups: ItemGroup[] = []
  const add = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes) {
      if (isElement(node) ? isSkipped(node) : node.text.trim() === '') continue
      if (!isElement(node) || (groups.length === 0 && !holdsItems(node)))
        groups.push({ item: undefined, nodes: [node] })
      else if (node.tag === 'li') groups.push({ item: node, nodes: [...node.children] })
      else if (holdsItems(node)) add(node.children)
      else groups.at(-1)!.nodes.push(node)
    }
  }
  add(list.children)
  return groups
}

/** Whether an element is an item, or contains items without being a list. */
const holdsItems = (node: ElementNode): boolean =>
  node.tag === 'li' || (!/^[uo]l$/.test(node.tag) && childElements(node).some(({ tag }) => tag === 'li'))

/** Returns `[x] ` or `[ ] ` when the item begins with a check box, else ''. */
export function taskMark(item: ElementNode): string {
  for (const child of item.children) {
    if (!isElement(child)) {
      if (child.text.trim() === '') continue
      return ''
    }
    if (child.tag !== 'input') return /^(?:label|p|span|div)$/.test(child.tag) ? taskMark(child) : ''
    if (!/^checkbox$/i.test(child.attributes['type'] ?? '')) return ''
    return child.attributes['checked'] === undefined ? '[ ] ' : '[x] '
  }
  return ''
}

/** Whether a list can follow a line of text without a blank line between them. */
export function interruptsParagraph(list: ElementNode): boolean {
  return list.tag !== 'ol' || ['', '1'].includes((list.attributes['start'] ?? '').trim())
}

/** Returns terms with their definitions, in order; consecutive definitions form one group. */
export function definitionGroups(list: ElementNode): { term?: ElementNode; definitions: ElementNode[] }[] {
  const groups: { term?: ElementNode; definitions: ElementNode[] }[] = []
  const add = (parent: ElementNode): void => {
    for (const child of childElements(parent)) {
      if (isSkipped(child)) continue
      if (child.tag === 'dt') groups.push({ term: child, definitions: [] })
      else if (child.tag !== 'dd' && childElements(child).some(({ tag }) => tag === 'dt' || tag === 'dd')) add(child)
      else if (groups.length > 0) groups.at(-1)!.definitions.push(child)
      else groups.push({ definitions: [child] })
    }
  }
  add(list)
  return groups
}
