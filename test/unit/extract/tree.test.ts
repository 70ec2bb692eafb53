import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ElementNode, elementsOf, isElement, type TreeNode } from '../../../src/engine/extract/tree.ts'

const { tree } = fc.letrec<{ tree: ElementNode; node: TreeNode }>((tie) => ({
  tree: fc.record({
    tag: fc.constantFrom('p', 'div', 'svg'),
    attributes: fc.constant({}),
    children: fc.array(tie('node'), { maxLength: 4 }),
  }),
  node: fc.oneof({ maxDepth: 4 }, fc.record({ text: fc.constant('') }), tie('tree')),
}))

test('iterates over elements in document order, without the children of excluded ones', () => {
  const enter = ({ tag }: ElementNode) => tag !== 'svg'
  const inOrder = (element: ElementNode, enters: (element: ElementNode) => boolean): ElementNode[] => [
    element,
    ...(enters(element) ? element.children.filter(isElement).flatMap((child) => inOrder(child, enters)) : []),
  ]
  fc.assert(
    fc.property(tree, (root) => {
      expect([...elementsOf(root, enter)]).toEqual(inOrder(root, enter))
      expect([...elementsOf(root)]).toEqual(inOrder(root, () => true))
    }),
  )
})
