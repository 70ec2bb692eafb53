/** Converts diagrams (SmartArt) of office documents to lists of their texts. */
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { type ListItem, listOf } from '../inline.ts'
import { all, child, first, textOf } from '../office-xml.ts'
import { squeeze } from '../../../../../core/text/pieces.ts'

/** Deeper entries are on the same level of the list. */
const maxLevel = 8

/** Returns the texts of a diagram as a list, nested as the diagram connects them. */
export function diagramNodes(data: ElementNode | undefined): TreeNode[] {
  const points = new Map(all(first(data, 'ptLst'), 'pt').map((point) => [point.attributes['modelId'] ?? '', point]))
  const below = childrenOf(data)
  const seen = new Set<string>()
  const items: ListItem[] = []
  const visit = (roots: readonly string[]) => {
    const open = roots.toReversed().map((id) => ({ id, level: 0 }))
    for (let next = open.pop(); next; next = open.pop()) {
      const { id, level } = next
      if (seen.has(id)) continue
      seen.add(id)
      const text = pointText(points.get(id))
      if (text) items.push({ level: Math.min(level, maxLevel), isOrdered: false, nodes: [{ text }] })
      const inner = (below.get(id) ?? []).map((one) => ({ id: one, level: text ? level + 1 : level }))
      open.push(...inner.toReversed())
    }
  }
  const typeOf = (id: string) => points.get(id)?.attributes['type'] ?? 'node'
  visit([...points.keys()].filter((id) => typeOf(id) === 'doc'))
  // Points that nothing connects are shown too; others describe the layout.
  visit([...points.keys()].filter((id) => /^(?:node|asst)$/.test(typeOf(id))))
  return listOf(items)
}

/** Returns the children of points, in the order of the diagram. */
function childrenOf(data: ElementNode | undefined): Map<string, string[]> {
  const isParent = ({ attributes: { type = 'parOf' } }: ElementNode) => type === 'parOf'
  const orderOf = ({ attributes }: ElementNode) => Number(attributes['srcOrd']) || 0
  const connections = all(first(data, 'cxnLst'), 'cxn')
    .filter(isParent)
    .toSorted((a, b) => orderOf(a) - orderOf(b))
  const found = new Map<string, string[]>()
  for (const {
    attributes: { srcId = '', destId = '' },
  } of connections) {
    const known = found.get(srcId)
    if (known) known.push(destId)
    else found.set(srcId, [destId])
  }
  return found
}

const pointText = (point: ElementNode | undefined): string =>
  squeeze(
    all(child(point, 't'), 'p')
      .map((one) => all(one, 't').map(textOf).join(''))
      .join(' '),
  )
