/** Removes the icons of fonts from a snapshot: they are in names and texts as characters that mean nothing. */
import { hasIcons, withoutIcons } from '../../elements/icons.ts'
import { type AriaNode, type Children, isField, type Writable } from './aria.ts'

/** Returns nodes without icons, and without texts of nothing else; adds those with no other name to `unnamed`. */
export function removeIcons(children: Children, unnamed: AriaNode[]): Children {
  const kept: (AriaNode | string)[] = []
  for (const child of children) {
    const clean = typeof child === 'string' && hasIcons(child) ? withoutIcons(child) : child
    if (typeof clean !== 'string') cleanIn(clean, unnamed)
    if (clean !== '') kept.push(clean)
  }
  return kept
}

function cleanIn(node: Writable<AriaNode>, unnamed: AriaNode[]): void {
  if (node.name !== undefined && hasIcons(node.name)) {
    node.name = withoutIcons(node.name)
    if (node.name === '') unnamed.push(node)
  }
  // The value of a field is what it has.
  if (node.text !== undefined && !isField(node) && hasIcons(node.text)) {
    node.text = withoutIcons(node.text)
    if (node.text === '') delete node.text
  }
  if (node.children) node.children = removeIcons(node.children, unnamed)
}

/** Names nodes by the tooltips of their elements. */
export function nameByTooltips(nodes: readonly Writable<AriaNode>[], tooltips: ReadonlyMap<string, string>): void {
  for (const node of nodes) {
    const tooltip = tooltips.get(node.ref ?? '')
    if (tooltip) node.name = tooltip
    else delete node.name
  }
}
