/** The page without what frames it. */
import { attribute, type ElementNode, isElement, type Tree } from '../extract/tree.ts'

const framing = new Set(['nav', 'header', 'footer', 'aside', 'dialog', 'form', 'button'])
const roles = /^(?:navigation|banner|contentinfo|complementary|search|dialog|alertdialog)$/

export function mainContent({ root, baseUrl }: Tree): Tree {
  return { root: without(root), baseUrl }
}

function without(element: ElementNode): ElementNode {
  const children = element.children
    .filter((child) => !isElement(child) || !(framing.has(child.tag) || roles.test(attribute(child, 'role'))))
    .map((child) => (isElement(child) ? without(child) : child))
  return { ...element, children }
}
