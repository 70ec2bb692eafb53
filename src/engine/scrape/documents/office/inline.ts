/** Builds paragraphs from runs of text with a style. */
import type { TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { isWebLink } from './office-xml.ts'

export interface RunStyle {
  readonly bold?: boolean | undefined
  readonly italic?: boolean | undefined
  readonly strike?: boolean | undefined
  readonly raised?: 'sub' | 'sup' | undefined
  readonly href?: string | undefined
}

/** A run of text, or a node in between. */
export type Run = { readonly text: string; readonly style: RunStyle } | { readonly node: TreeNode }

const keyOf = ({ bold, italic, strike, raised }: RunStyle): string =>
  [bold ?? false, italic ?? false, strike ?? false, raised].join(' ')

/** Returns nodes for runs; neighbours with the same link or style become one. */
export function inlineNodes(runs: readonly Run[]): TreeNode[] {
  const hrefOf = (run: Run | undefined) =>
    run && 'text' in run && run.style.href !== undefined && isWebLink(run.style.href) ? run.style.href : undefined
  const nodes: TreeNode[] = []
  for (let at = 0; at < runs.length;) {
    const href = hrefOf(runs[at])
    let end = at + 1
    while (end < runs.length && hrefOf(runs[end]) === href) end++
    const inner = unlinked(runs.slice(at, end))
    at = end
    if (href === undefined) nodes.push(...inner)
    else if (inner.length > 0) nodes.push({ tag: 'a', attributes: { href }, children: inner })
  }
  return nodes
}

function unlinked(runs: readonly Run[]): TreeNode[] {
  const nodes: TreeNode[] = []
  let group: { texts: string[]; style: RunStyle; key: string } | undefined
  const flush = () => {
    if (group) nodes.push(...styled(group.texts.join(''), group.style))
    group = undefined
  }
  for (const run of runs) {
    if ('node' in run) {
      flush()
      nodes.push(run.node)
      continue
    }
    const key = keyOf(run.style)
    if (group?.key === key) group.texts.push(run.text)
    else {
      flush()
      group = { texts: [run.text], style: run.style, key }
    }
  }
  flush()
  return nodes
}

function styled(text: string, { bold, italic, strike, raised }: RunStyle): TreeNode[] {
  if (text === '') return []
  const isBlank = text.trim() === ''
  let node: TreeNode = { text }
  const wrap = (tag: string) => (node = elementAround(tag, [node]))
  if (raised && !isBlank) wrap(raised)
  if (strike && !isBlank) wrap('s')
  if (italic && !isBlank) wrap('em')
  if (bold && !isBlank) wrap('strong')
  return [node]
}

/** An entry of a list. */
export interface ListItem {
  readonly level: number
  readonly isOrdered: boolean
  /** Its number, if it does not follow from its position. */
  readonly number?: number | undefined
  readonly nodes: readonly TreeNode[]
}

/** Returns nested lists for consecutive items. */
export function listOf(items: readonly ListItem[]): TreeNode[] {
  const lists: TreeNode[] = []
  for (let at = 0; at < items.length;) {
    const { level, isOrdered, number } = items[at]!
    const entries: TreeNode[] = []
    while (at < items.length && items[at]!.level >= level) {
      const item = items[at]!
      if (item.level === level && item.isOrdered !== isOrdered) break
      if (item.level === level && number !== undefined && item.number !== number + entries.length) break
      let end = at + 1
      while (end < items.length && items[end]!.level > level) end++
      entries.push(elementAround('li', [...item.nodes, ...listOf(items.slice(at + 1, end))]))
      at = end
    }
    const start: Record<string, string> = number === undefined || number === 1 ? {} : { start: String(number) }
    lists.push({ tag: isOrdered ? 'ol' : 'ul', attributes: start, children: entries })
  }
  return lists
}

/** Returns a table; the first row is its head. */
export function tableOf(rows: readonly (readonly (readonly TreeNode[])[])[]): TreeNode[] {
  const [head, ...body] = rows.filter((row) => row.length > 0)
  if (!head) return []
  const cells = (row: readonly (readonly TreeNode[])[], tag: string) =>
    elementAround(
      'tr',
      row.map((nodes) => elementAround(tag, nodes)),
    )
  return [
    element(
      'table',
      {},
      elementAround('thead', [cells(head, 'th')]),
      elementAround(
        'tbody',
        body.map((row) => cells(row, 'td')),
      ),
    ),
  ]
}
