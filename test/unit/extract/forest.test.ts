import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canWalk, Forest } from '../../../src/engine/extract/main-content/forest.ts'
import { type Trees, sumsOf } from '../../../src/engine/extract/main-content/model.ts'

const width = 5

interface Leaf {
  readonly value: number
}
interface Inner {
  readonly feature: number
  readonly threshold: number
  readonly left: Node
  readonly right: Node
}
type Node = Leaf | Inner

const value = fc.oneof(fc.constantFrom(-1, 0, 0.5, 1, 2), fc.float({ noNaN: true }))
const node: fc.Arbitrary<Node> = fc.letrec<{ node: Node; leaf: Leaf; inner: Inner }>((tie) => ({
  node: fc.oneof({ maxDepth: 6 }, tie('leaf'), tie('inner')),
  leaf: fc.record({ value }),
  inner: fc.record({ feature: fc.nat(width - 1), threshold: value, left: tie('node'), right: tie('node') }),
})).node

/** Stores trees as the model does: in preorder. */
function stored(bias: number, trees: readonly Node[]): Trees {
  const [roots, features, thresholds, rights]: number[][] = [[], [], [], []]
  const add = (tree: Node): void => {
    const at = features!.length
    if ('value' in tree) {
      features!.push(0xffff)
      thresholds!.push(tree.value)
      rights!.push(0)
      return
    }
    features!.push(tree.feature)
    thresholds!.push(tree.threshold)
    rights!.push(0)
    add(tree.left)
    rights![at] = features!.length - at
    add(tree.right)
  }
  for (const tree of trees) {
    roots!.push(features!.length)
    add(tree)
  }
  return {
    bias,
    roots: Uint32Array.from(roots!),
    features: Uint16Array.from(features!),
    thresholds: Float32Array.from(thresholds!),
    rights: Uint8Array.from(rights!),
  }
}

test('sums the same bits for many rows at once as row by row', () => {
  expect(canWalk()).toBe(true)
  const rows = fc.array(fc.array(fc.oneof(value, fc.constant(NaN)), { minLength: width, maxLength: width }), {
    minLength: 1,
    maxLength: 70,
  })
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.array(node, { maxLength: 8 }), rows, (bias, trees, table) => {
      const model = stored(bias, trees)
      const matrix = { width, values: Float32Array.from(table.flat()) }
      expect([...new Forest(model, width).scores(matrix)]).toEqual([...sumsOf(model, matrix)])
    }),
  )
})
