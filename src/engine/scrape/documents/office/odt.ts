/** Converts OpenDocument texts. */
import { type ElementNode, isElement, type TreeNode } from '../../../extract/tree.ts'
import { limits } from '../../../../core/limits/limits.ts'
import { element, elementAround } from '../document.ts'
import { inlineNodes, type Run, type RunStyle, tableOf } from './inline.ts'
import type { OfficeContent } from './office-content.ts'
import { OfficeError } from './office-error.ts'
import { all, child, children, first, requiredXml, textOf, xmlOf } from './office-xml.ts'
import type { ZipArchive } from './zip.ts'
import { replaceRuns } from '../../../../core/text/pieces.ts'

interface Context {
  readonly styles: ReadonlyMap<string, RunStyle>
  /** Names of styles whose text is hidden. */
  readonly hidden: ReadonlySet<string>
  /** First numbers of numbered levels, by list style and level from 1. */
  readonly ordered: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** Last numbers of lists, by style and level, and by ID. */
  readonly counted: Map<string, number>
  readonly notes: TreeNode[][]
}

export async function odtContent(zip: ZipArchive): Promise<OfficeContent> {
  if (/encryption-data/.test((await zip.text('META-INF/manifest.xml')) ?? ''))
    throw new OfficeError('locked', 'it is encrypted')
  const content = await requiredXml(zip, 'content.xml')
  const styles = await xmlOf(zip, 'styles.xml')
  const context: Context = {
    styles: textStyles(content),
    hidden: hiddenStyles(content, styles),
    ordered: orderedStyles(content, styles),
    counted: new Map(),
    notes: [],
  }
  const body = first(first(content, 'body'), 'text')
  const nodes = blocks(body, context)
  const notes = context.notes.map((note, at): TreeNode => ({
    tag: 'li',
    attributes: { id: `note-${at + 1}` },
    children: [...note],
  }))
  const meta = await xmlOf(zip, 'meta.xml')
  const word = (tag: string) => textOf(first(meta, tag)).trim() || undefined
  return {
    nodes:
      notes.length > 0 ? [...nodes, element('section', { role: 'doc-endnotes' }, elementAround('ol', notes))] : nodes,
    title: word('title'),
    description: word('description') ?? word('subject'),
    author: word('creator') ?? word('initial-creator'),
    language: word('language'),
    published: word('creation-date'),
    modified: word('date'),
  }
}

function textStyles(content: ElementNode): Map<string, RunStyle> {
  return new Map(
    all(content, 'style').map((style) => {
      const {
        'font-weight': weight,
        'font-style': slant,
        'text-line-through-style': line,
        'text-position': position,
      } = child(style, 'text-properties')?.attributes ?? {}
      return [
        style.attributes['name'] ?? '',
        {
          ...(weight !== undefined && /^(?:bold|[6-9]00)$/.test(weight) && { bold: true }),
          ...(slant === 'italic' && { italic: true }),
          ...(line !== undefined && line !== 'none' && { strike: true }),
          ...(position && /^(?:super|0*[1-9])/.test(position) && { raised: 'sup' as const }),
          ...(position && /^(?:sub|-)/.test(position) && { raised: 'sub' as const }),
        },
      ]
    }),
  )
}

const hiddenStyles = (...files: (ElementNode | undefined)[]): Set<string> =>
  new Set(
    files.flatMap((file) =>
      all(file, 'style').flatMap((style) =>
        child(style, 'text-properties')?.attributes['display'] === 'none' ? [style.attributes['name'] ?? ''] : [],
      ),
    ),
  )

function orderedStyles(...files: (ElementNode | undefined)[]): Map<string, ReadonlyMap<number, number>> {
  const levels = (style: ElementNode) =>
    children(style, 'list-level-style-number').filter(({ attributes }) => attributes['num-format'] !== '')
  const startOf = ({ attributes }: ElementNode) =>
    [Number(attributes['level'] ?? 1) || 1, numberOf(attributes['start-value']) ?? 1] as const
  return new Map(
    files.flatMap((file) =>
      all(file, 'list-style').map(
        (style) => [style.attributes['name'] ?? '', new Map(levels(style).map(startOf))] as const,
      ),
    ),
  )
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined

function blocks(parent: ElementNode | undefined, context: Context): TreeNode[] {
  return children(parent).flatMap((one): TreeNode[] => {
    if (isHidden(one, context)) return []
    if (one.tag === 'h') {
      const level = Math.min(Math.max(Number(one.attributes['outline-level'] ?? 1) || 1, 1), 6)
      return filled(`h${level}`, inlineNodes(runs(one, context, {})))
    }
    if (one.tag === 'p') {
      const tag = one.attributes['style-name'] === 'Title' ? 'h1' : 'p'
      return filled(tag, inlineNodes(runs(one, context, {})))
    }
    if (one.tag === 'list') return list(one, context)
    if (one.tag === 'table') return table(one, context)
    // Change histories and declarations are not part of the text.
    if (['tracked-changes', 'sequence-decls', 'forms', 'variable-decls', 'user-field-decls'].includes(one.tag))
      return []
    return blocks(one, context)
  })
}

const filled = (tag: string, nodes: readonly TreeNode[]) => (nodes.length > 0 ? [elementAround(tag, nodes)] : [])

/** Whether a paragraph or section is hidden by its style, or by a condition that was met when it was stored. */
const isHidden = (node: ElementNode, { hidden }: Context): boolean =>
  hidden.has(node.attributes['style-name'] ?? '') ||
  (node.tag === 'section' && node.attributes['display'] === 'none') ||
  children(node, 'hidden-paragraph').some(({ attributes }) => attributes['is-hidden'] === 'true')

function list(node: ElementNode, context: Context, inherited = '', level = 1): TreeNode[] {
  const { 'style-name': style = inherited, 'continue-numbering': continues, 'continue-list': of, id } = node.attributes
  const items = children(node).filter(({ tag }) => tag === 'list-item' || tag === 'list-header')
  // A number that starts again in the middle starts another list.
  const again = items.findIndex(({ attributes }, at) => at > 0 && attributes['start-value'] !== undefined)
  if (again > 0)
    return [items.slice(0, again), items.slice(again)].flatMap((part) =>
      list({ ...node, children: part }, context, inherited, level),
    )
  const entries = items.map((item) => {
    const isSingle = children(item, 'p').length === 1
    return elementAround(
      'li',
      children(item).flatMap((one) => {
        if (one.tag === 'list') return list(one, context, style, level + 1)
        return isSingle && one.tag === 'p' && !isHidden(one, context)
          ? inlineNodes(runs(one, context, {}))
          : blocks({ ...item, children: [one] }, context)
      }),
    )
  })
  if (entries.length === 0) return []
  const numbered = items.filter(
    (item) => item.tag === 'list-item' && children(item, 'list').length < children(item).length,
  )
  const first = context.ordered.get(style)?.get(level)
  if (first === undefined) return [elementAround('ul', entries)]
  const key = `${style} ${level}`
  const last =
    of === undefined ? (continues === 'true' ? context.counted.get(key) : undefined) : context.counted.get(of)
  const start = numberOf(items[0]?.attributes['start-value']) ?? (last === undefined ? first : last + 1)
  for (const name of [key, ...(id === undefined ? [] : [id])]) context.counted.set(name, start + numbered.length - 1)
  return [{ tag: 'ol', attributes: start === 1 ? {} : { start: String(start) }, children: entries }]
}

function table(node: ElementNode, context: Context): TreeNode[] {
  let left: number = limits.office.cells
  const rows = all(node, 'table-row').map((row) =>
    children(row).flatMap((cell): TreeNode[][] => {
      if (cell.tag !== 'table-cell' && cell.tag !== 'covered-table-cell') return []
      const content = blocks(cell, context)
      const repeated = Number(cell.attributes['number-columns-repeated'] ?? 1) || 1
      // Empty cells are repeated to the right end of a sheet.
      const count = content.length === 0 ? Math.min(repeated, limits.office.emptyCells) : repeated
      if ((left -= count) < 0) throw new OfficeError('large', `a table has more than ${limits.office.cells} cells`)
      return Array.from({ length: count }, () => content)
    }),
  )
  return tableOf(rows)
}

function runs(node: ElementNode, context: Context, style: RunStyle): Run[] {
  return node.children.flatMap((one): Run[] => {
    if (!isElement(one)) return [{ text: replaceRuns(one.text, /\s+/g, ' '), style }]
    switch (one.tag) {
      case 's':
        return [{ text: ' '.repeat(Math.min(Number(one.attributes['c'] ?? 1) || 1, 100)), style }]
      case 'tab':
        return [{ text: '\t', style }]
      case 'line-break':
        return [{ node: element('br', {}) }]
      case 'a':
        return runs(one, context, { ...style, href: one.attributes['href'] })
      case 'span':
        return context.hidden.has(one.attributes['style-name'] ?? '')
          ? []
          : runs(one, context, { ...style, ...context.styles.get(one.attributes['style-name'] ?? '') })
      case 'note':
        return note(one, context)
      case 'hidden-text':
      case 'ruby-text':
      case 'annotation':
      case 'annotation-end':
      case 'change':
      case 'bookmark':
        return []
      case 'frame':
        return frame(one, context)
      default:
        return runs(one, context, style)
    }
  })
}

function note(node: ElementNode, context: Context): Run[] {
  context.notes.push(blocks(child(node, 'note-body'), context))
  const number = context.notes.length
  return [{ node: element('sup', {}, element('a', { href: `#note-${number}` }, String(number))) }]
}

/** Returns the description of an image, or the content of a text box. */
function frame(node: ElementNode, context: Context): Run[] {
  const box = child(node, 'text-box')
  if (box) return blocks(box, context).map((inner) => ({ node: inner }))
  const alt = (textOf(child(node, 'desc')) || textOf(child(node, 'title'))).trim()
  return alt ? [{ text: `[${alt}]`, style: {} }] : []
}
