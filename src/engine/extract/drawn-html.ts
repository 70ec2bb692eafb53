/** HTML inside drawings (`<foreignObject>`), such as the boxes of a diagram, which is content unlike labels of axes. */
import { type ElementNode, isElement, type TreeNode } from './tree.ts'

/** Moves the HTML inside each drawing behind the drawing. */
export function moveDrawnHtml({ children }: ElementNode): void {
  const waiting = children.splice(0).toReversed()
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    children.push(node)
    if (!isElement(node)) continue
    if (node.tag === 'svg') for (const part of takeHtml(node).toReversed()) waiting.push(part)
    else moveDrawnHtml(node)
  }
}

/** Removes the HTML from a drawing, and returns it. */
function takeHtml(drawing: ElementNode, found: ElementNode[] = []): ElementNode[] {
  const kept: TreeNode[] = []
  for (const node of drawing.children) {
    if (isElement(node) && node.tag === 'foreignobject') found.push({ ...node, tag: 'div', attributes: {} })
    else kept.push(node)
    // Definitions are not drawn.
    if (isElement(node) && node.tag !== 'foreignobject' && node.tag !== 'defs') takeHtml(node, found)
  }
  if (kept.length < drawing.children.length) {
    drawing.children.length = 0
    for (const node of kept) drawing.children.push(node)
  }
  return found
}
