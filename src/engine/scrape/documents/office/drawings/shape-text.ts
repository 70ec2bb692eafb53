/** Converts text of slides: paragraphs and lists. */
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { element, elementAround } from '../../document.ts'
import { inlineNodes, type ListItem, listOf, type Run, type RunStyle } from '../inline.ts'
import { all, child, children, first, textOf } from '../office-xml.ts'
import { formulaOf } from '../omml.ts'
import { symbolsOf } from '../symbol-fonts.ts'

export type Href = (id: string | undefined) => string | undefined

/** Source of bullets for paragraphs that set none. */
export interface Bullets {
  /** Whether the text is the body of a slide, whose paragraphs have bullets. */
  readonly isBody: boolean
  /** Placeholders of the layout, which may turn bullets off. */
  readonly inherited: readonly ElementNode[]
}

/** Returns the paragraphs of a shape; several paragraphs with bullets or numbers are a list. */
export function paragraphs(shape: ElementNode, href: Href, bullets?: Bullets): TreeNode[] {
  const lines = all(shape, 'p')
    .map((node) => ({ node, nodes: inlineNodes(runs(node, href)) }))
    .filter(({ nodes }) => nodes.length > 0)
  const isSingle = lines.length < 2
  const result: TreeNode[] = []
  let items: ListItem[] = []
  const counters: number[] = []
  for (const { node, nodes } of lines) {
    const level = levelOf(node)
    const bullet = isSingle ? undefined : bulletOf(node, shape, level, bullets)
    if (!bullet) {
      result.push(...listOf(items.splice(0)), elementAround('p', nodes))
      counters.length = 0
      continue
    }
    counters.length = Math.min(counters.length, level + 1)
    const isOrdered = bullet.tag === 'buAutoNum'
    if (isOrdered)
      counters[level] =
        counters[level] === undefined ? Number(bullet.attributes['startAt'] ?? 1) || 1 : counters[level] + 1
    else delete counters[level]
    items.push({ level, isOrdered, number: isOrdered ? counters[level] : undefined, nodes })
  }
  return [...result, ...listOf(items)]
}

const levelOf = (node: ElementNode): number =>
  Math.min(Math.max(Number(child(node, 'pPr')?.attributes['lvl']) || 0, 0), 8)

/** Returns the bullet or number of a paragraph: its own one, or that of its shape or layout. */
function bulletOf(
  node: ElementNode,
  shape: ElementNode,
  level: number,
  bullets: Bullets | undefined,
): ElementNode | undefined {
  const styles = [shape, ...(bullets?.inherited ?? [])].map((one) =>
    child(first(one, 'lstStyle'), `lvl${level + 1}pPr`),
  )
  for (const properties of [child(node, 'pPr'), ...styles]) {
    const own = children(properties).find(({ tag }) => /^bu(?:None|Char|Blip|AutoNum)$/.test(tag))
    if (own) return own.tag === 'buNone' ? undefined : own
  }
  return bullets?.isBody ? element('buChar', {}) : undefined
}

/** Returns the runs of a paragraph, with its formulas. */
function runs(node: ElementNode, href: Href): Run[] {
  return children(node).flatMap((one): Run[] => {
    switch (one.tag) {
      case 'br':
        return [{ node: element('br', {}) }]
      case 'oMathPara':
        return children(one, 'oMath').map((formula) => ({ node: formulaOf(formula, true) }))
      case 'oMath':
        return [{ node: formulaOf(one, false) }]
      case 'AlternateContent':
        return runs(child(one, 'Choice') ?? child(one, 'Fallback') ?? one, href)
      case 'm':
        return runs(one, href)
      case 'r':
      case 'fld':
        return [textRun(one, href)]
      default:
        return []
    }
  })
}

function textRun(node: ElementNode, href: Href): Run {
  const properties = child(node, 'rPr')
  const { b, i, strike, baseline = '0' } = properties?.attributes ?? {}
  const font = (child(properties, 'sym') ?? child(properties, 'latin'))?.attributes['typeface'] ?? ''
  const style: RunStyle = {
    bold: /^(?:1|true)$/.test(b ?? ''),
    italic: /^(?:1|true)$/.test(i ?? ''),
    strike: strike !== undefined && strike !== 'noStrike',
    raised: Number.parseInt(baseline, 10) > 0 ? 'sup' : Number.parseInt(baseline, 10) < 0 ? 'sub' : undefined,
    href: href(child(properties, 'hlinkClick')?.attributes['r:id']),
  }
  return { text: symbolsOf(textOf(child(node, 't')), font), style }
}

/** Returns the text of a title in one line. */
export function titleNodes(shape: ElementNode, href: Href): TreeNode[] {
  const lines = all(shape, 'p')
    .map((line) => runs(line, href))
    .filter((line) => line.length > 0)
  const space: Run = { text: ' ', style: {} }
  const joined = lines.flatMap((line, at) => (at > 0 ? [space, ...line] : line))
  return inlineNodes(
    joined.map((run) =>
      'node' in run
        ? 'tag' in run.node && run.node.tag === 'br'
          ? space
          : run
        : { text: run.text, style: { raised: run.style.raised } },
    ),
  )
}
