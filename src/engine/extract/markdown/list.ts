/** Parts of lists as pages write them: items, what stands wrongly between them, check boxes, terms and definitions. */
import { childElements, type ElementNode, isElement, type TreeNode } from '../tree.ts'
import { isSkipped } from './context.ts'

export interface ItemGroup {
  /** The `<li>`; undefined for what stands in the list before its first one. */
  readonly item: ElementNode | undefined
  readonly nodes: TreeNode[]
}

/** Items of a list; a list that stands between two items belongs to the first of them. */
export function itemsOf(list: ElementNode): ItemGroup[] {
  const groups: ItemGroup[] = []
  const add = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes) {
      if (!isElement(node)) {
        if (node.text.trim() !== '') groups.push({ item: undefined, nodes: [node] })
      } else if (isSkipped(node)) {
        continue
      } else if (node.tag === 'li') {
        groups.push({ item: node, nodes: [...node.children] })
      } else if (node.tag !== 'ul' && node.tag !== 'ol' && childElements(node).some(({ tag }) => tag === 'li')) {
        add(node.children)
      } else if (groups.length > 0) {
        groups.at(-1)!.nodes.push(node)
      } else {
        groups.push({ item: undefined, nodes: [node] })
      }
    }
  }
  add(list.children)
  return groups
}

/** `[x] ` or `[ ] ` when the item begins with a check box. */
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

/** Whether a list may follow a line of text without a blank line between them. */
export function interruptsParagraph(list: ElementNode): boolean {
  return list.tag !== 'ol' || ['', '1'].includes((list.attributes['start'] ?? '').trim())
}

/** Terms and definitions in order; definitions that follow each other stand together. */
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
