/** Fills the slots of declarative shadow roots, as browsers render them. */
import { attribute, type ElementNode, isElement, type TreeNode } from '../tree.ts'

type Elements = ReadonlySet<ElementNode>

/** Moves the children of the hosts of shadow roots into their slots; those without a slot stay beside the root. */
export function fillSlots(page: ElementNode, roots: Elements): void {
  // Slots are searched for first, because a slot may be moved into another one.
  for (const host of hostsIn(page, roots)) fill(host)
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

function fill({ host, root, slots }: Host): void {
  const unassigned = childrenBySlot(host, root)
  const moved = new Set<TreeNode>()
  for (const slot of slots) {
    const name = attribute(slot, 'name')
    const assigned = unassigned.get(name)
    // Without them, a slot shows its own children.
    if (!assigned?.some((node) => isElement(node) || node.text.trim() !== '')) continue
    unassigned.delete(name)
    for (const node of assigned) moved.add(node)
    replaceChildren(slot, assigned)
  }
  if (moved.size === 0) return
  replaceChildren(
    host,
    host.children.filter((node) => !moved.has(node)),
  )
}

/** Returns the children of a host, by the names of the slots that they are for. */
function childrenBySlot(host: ElementNode, root: ElementNode): Map<string, TreeNode[]> {
  const found = new Map<string, TreeNode[]>()
  for (const node of host.children) {
    if (node === root) continue
    const name = isElement(node) ? attribute(node, 'slot') : ''
    const nodes = found.get(name)
    if (nodes) nodes.push(node)
    else found.set(name, [node])
  }
  return found
}

function replaceChildren({ children }: ElementNode, nodes: readonly TreeNode[]): void {
  children.length = 0
  for (const node of nodes) children.push(node)
}
