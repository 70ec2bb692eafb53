/** Lists clickable elements that Playwright omits, by the nodes that have their content. */
import { withoutIcons } from '../../../elements/icons.ts'
import { type AriaNode, type Children, hasControlRole, nodesWithRef, type Writable } from '../aria.ts'
import type { Mark } from '../elements.page.ts'
import { bits } from '../flag-bits.ts'
import type { Omitted } from './omitted.page.ts'

type ByRef = Map<string, Writable<AriaNode>>

/** Replaces the references of nodes that are not clickable themselves with those of omitted elements. */
export function showOmitted(nodes: Children, omitted: readonly Omitted[], marks: ReadonlyMap<string, Mark>): void {
  if (omitted.length === 0) return
  const byRef: ByRef = new Map([...nodesWithRef(nodes)].map((node) => [node.ref, node]))
  for (const element of omitted) {
    const node = byRef.has(element.ref) ? undefined : nodeOf(element, byRef)
    if (!node || node.cursor === 'pointer' || hasControlRole(node)) continue
    if ((marks.get(node.ref!)?.[1] ?? 0) & bits.usable) continue
    node.ref = element.ref
    if (element.hasCursor) node.cursor = 'pointer'
    byRef.set(element.ref, node)
  }
}

/** Returns the only node inside an element, or the node around it that has the same text and no children. */
function nodeOf({ text, inside, around }: Omitted, byRef: ByRef): Writable<AriaNode> | undefined {
  const [inner, ...others] = inside.flatMap((ref) => byRef.get(ref) ?? [])
  if (inner) {
    const within = new Set<AriaNode>(nodesWithRef([inner]))
    return others.every((node) => within.has(node)) ? inner : undefined
  }
  const outer = byRef.get(around.find((ref) => byRef.has(ref)) ?? '')
  const hasText = plain(outer?.text ?? outer?.name ?? '') === plain(text)
  return hasText && !outer?.children?.length ? outer : undefined
}

/** Returns a text without icons and spaces, in lower case: style sheets can change the case. */
const plain = (text: string): string => withoutIcons(text).replaceAll(/\s/g, '').toLowerCase()
