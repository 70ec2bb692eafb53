/** Fills the slots of declarative shadow roots, as browsers render them. */
import { attribute, type ElementNode, isElement, type TreeNode } from '../tree.ts'

type Elements = ReadonlySet<ElementNode>

/** Moves the children of the hosts of shadow roots into their slots; those without a slot stay beside the root. */
export function fillSlots(page: ElementNode, roots: Elements): void {
  // Slots are searched for first, because a slot may be moved into another one.
  for (const { slots, host, root } of hostsIn(page, roots)) for (const slot of slots) fill(slot, host, root)
}

interface Host {
  readonly host: ElementNode
  readonly root: ElementNode
  readonly slots: readonly ElementNode[]
}

function hostsIn(element: ElementNode, roots: Elements, found: Host[] = []): Host[] {
  const children = element.children.filter(isElement)
  const root = children.find((child) => roots.has(child))
  if (root) found.push({ host: element, root, slots: slotsIn(root, roots) })
  for (const child of children) hostsIn(child, roots, found)
  return found
}

function slotsIn(element: ElementNode, roots: Elements, found: ElementNode[] = []): ElementNode[] {
  for (const child of element.children) {
    if (!isElement(child) || roots.has(child)) continue
    if (child.tag === 'slot') found.push(child)
    else slotsIn(child, roots, found)
  }
  return found
}

function fill(slot: ElementNode, host: ElementNode, root: ElementNode): void {
  const name = attribute(slot, 'name')
  const isAssigned = (node: TreeNode) =>
    node !== root && (isElement(node) ? attribute(node, 'slot') === name : name === '')
  const assigned = host.children.filter(isAssigned)
  // Without them, a slot shows its own children.
  if (!assigned.some((node) => isElement(node) || node.text.trim() !== '')) return
  replaceChildren(
    host,
    host.children.filter((node) => !isAssigned(node)),
  )
  replaceChildren(slot, assigned)
}

function replaceChildren({ children }: ElementNode, nodes: readonly TreeNode[]): void {
  children.length = 0
  for (const node of nodes) children.push(node)
}
