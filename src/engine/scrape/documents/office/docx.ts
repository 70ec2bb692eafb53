/** Converts Word documents. */
import { type ElementNode, isElement, type TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { inlineNodes, type ListItem, listOf, type Run, type RunStyle, tableOf } from './inline.ts'
import type { OfficeContent } from './office.ts'
import {
  all,
  child,
  children,
  coreFacts,
  first,
  mainPart,
  relationsOf,
  requiredXml,
  textOf,
  xmlOf,
} from './office-xml.ts'
import type { ZipArchive } from './zip.ts'

interface Context {
  readonly links: ReadonlyMap<string, { readonly target: string; readonly isExternal: boolean }>
  /** Heading level by style ID. */
  readonly headings: ReadonlyMap<string, number>
  /** Whether a list level is numbered, by `numId level`. */
  readonly ordered: ReadonlyMap<string, boolean>
  /** IDs of notes in the order of their references. */
  readonly notes: string[]
}

const attr = (node: ElementNode | undefined, name: string): string | undefined => node?.attributes[name]
const isOn = (node: ElementNode | undefined): boolean => node !== undefined && !/^(?:0|false|off|none)$/.test(attr(node, 'val') ?? '1') // prettier-ignore

export async function docxContent(zip: ZipArchive): Promise<OfficeContent> {
  const part = await mainPart(zip, 'word/document.xml')
  const document = await requiredXml(zip, part)
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const context: Context = {
    links: await relationsOf(zip, part),
    headings: headingsOf(await xmlOf(zip, `${folder}styles.xml`)),
    ordered: orderedLevels(await xmlOf(zip, `${folder}numbering.xml`)),
    notes: [],
  }
  const nodes = blocks(first(document, 'body'), context)
  return { nodes: [...nodes, ...(await notes(zip, folder, context))], ...(await coreFacts(zip)) }
}

function headingsOf(styles: ElementNode | undefined): Map<string, number> {
  const levels = new Map<string, number>()
  for (const style of all(styles, 'style')) {
    const name = attr(child(style, 'name'), 'val') ?? ''
    const outline = attr(first(child(style, 'pPr'), 'outlineLvl'), 'val')
    const [, named] = /^heading (\d)$/i.exec(name) ?? []
    const level = /^title$/i.test(name) ? 1 : named ? Number(named) : outline === undefined ? undefined : Number(outline) + 1 // prettier-ignore
    if (level !== undefined && level >= 1 && level <= 9) levels.set(attr(style, 'styleId') ?? '', Math.min(level, 6))
  }
  return levels
}

function orderedLevels(numbering: ElementNode | undefined): Map<string, boolean> {
  const abstract = new Map(all(numbering, 'abstractNum').map((one) => [attr(one, 'abstractNumId'), one]))
  const levels = new Map<string, boolean>()
  for (const one of all(numbering, 'num')) {
    const definition = abstract.get(attr(child(one, 'abstractNumId'), 'val'))
    for (const level of children(definition, 'lvl'))
      levels.set(`${attr(one, 'numId')} ${attr(level, 'ilvl')}`, attr(child(level, 'numFmt'), 'val') !== 'bullet')
  }
  return levels
}

/** Elements that only wrap others. */
const wrappers = new Set(['sdt', 'sdtContent', 'ins', 'moveTo', 'smartTag', 'customXml', 'AlternateContent', 'Choice'])

function blocks(parent: ElementNode | undefined, context: Context): TreeNode[] {
  const nodes: TreeNode[] = []
  let items: ListItem[] = []
  const flush = () => {
    nodes.push(...listOf(items))
    items = []
  }
  const visit = (node: ElementNode) => {
    for (const one of children(node)) {
      if (wrappers.has(one.tag)) visit(one)
      else if (one.tag === 'tbl') {
        flush()
        nodes.push(...table(one, context))
      } else if (one.tag === 'p') paragraph(one)
    }
  }
  const paragraph = (node: ElementNode) => {
    const properties = child(node, 'pPr')
    const boxes: TreeNode[] = []
    const content = inlineNodes(runs(node, context, {}, boxes))
    const style = attr(child(properties, 'pStyle'), 'val') ?? ''
    const outline = attr(child(properties, 'outlineLvl'), 'val')
    const level = context.headings.get(style) ?? (outline !== undefined && Number(outline) < 6 ? Number(outline) + 1 : undefined) // prettier-ignore
    const number = child(properties, 'numPr')
    const numId = attr(child(number, 'numId'), 'val')
    const isEmpty = content.length === 0
    if (level !== undefined && !isEmpty) {
      flush()
      nodes.push(elementAround(`h${level}`, content))
    } else if (numId !== undefined && numId !== '0' && !isEmpty) {
      const depth = Math.min(Number(attr(child(number, 'ilvl'), 'val') ?? 0) || 0, 8)
      items.push({ level: depth, isOrdered: context.ordered.get(`${numId} ${depth}`) ?? false, nodes: content })
    } else if (!isEmpty) {
      flush()
      nodes.push(elementAround('p', content))
    }
    if (boxes.length > 0) flush()
    nodes.push(...boxes)
  }
  if (parent) visit(parent)
  flush()
  return nodes
}

const table = (node: ElementNode, context: Context): TreeNode[] =>
  tableOf(rowsOf(node, 'tr').map((row) => rowsOf(row, 'tc').flatMap((cell) => {
    const span = Math.min(Number(attr(child(child(cell, 'tcPr'), 'gridSpan'), 'val') ?? 1) || 1, 64)
    return [blocks(cell, context), ...Array.from({ length: span - 1 }, () => [])]
  }))) // prettier-ignore

/** Returns rows or cells, also those in wrappers. */
const rowsOf = (node: ElementNode, tag: string): ElementNode[] =>
  children(node).flatMap((one) => (one.tag === tag ? [one] : wrappers.has(one.tag) ? rowsOf(one, tag) : []))

/** Returns the runs of a paragraph; paragraphs in text boxes go into `boxes`. */
function runs(node: ElementNode, context: Context, style: RunStyle, boxes: TreeNode[]): Run[] {
  return children(node).flatMap((one): Run[] => {
    switch (one.tag) {
      case 'r': return runs(one, context, { ...style, ...styleOf(child(one, 'rPr')) }, boxes)
      case 't': return [{ text: textOf(one), style }]
      case 'tab': case 'ptab': return [{ text: '\t', style }]
      case 'br': case 'cr': return [{ node: element('br', {}) }]
      case 'noBreakHyphen': return [{ text: '\u2011', style }]
      case 'sym': return symbol(one, style)
      case 'hyperlink': return runs(one, context, { ...style, href: hrefOf(one, context) }, boxes)
      case 'footnoteReference': case 'endnoteReference': return reference(one, context)
      case 'docPr': return altText(one)
      case 'txbxContent':
        boxes.push(...blocks(one, context))
        return []
      case 'oMath': return [{ text: textOf(one), style }]
      // Deleted text, properties, and fallbacks for old programs.
      case 'del': case 'moveFrom': case 'pPr': case 'rPr': case 'Fallback': case 'instrText': case 'delText': return []
      default: return runs(one, context, style, boxes)
    }
  }) // prettier-ignore
}

function styleOf(properties: ElementNode | undefined): RunStyle {
  const raised = attr(child(properties, 'vertAlign'), 'val')
  return {
    ...(isOn(child(properties, 'b')) && { bold: true }),
    ...(isOn(child(properties, 'i')) && { italic: true }),
    ...((isOn(child(properties, 'strike')) || isOn(child(properties, 'dstrike'))) && { strike: true }),
    ...(raised === 'superscript' && { raised: 'sup' as const }),
    ...(raised === 'subscript' && { raised: 'sub' as const }),
  }
}

function hrefOf(node: ElementNode, { links }: Context): string | undefined {
  const link = links.get(attr(node, 'r:id') ?? '')
  return link?.isExternal ? link.target : undefined
}

function symbol(node: ElementNode, style: RunStyle): Run[] {
  const code = Number.parseInt(attr(node, 'char') ?? '', 16)
  return Number.isInteger(code) && code > 0 && code < 0xd800 ? [{ text: String.fromCodePoint(code), style }] : []
}

function altText({ attributes }: ElementNode): Run[] {
  const alt = attributes['descr']?.trim()
  return alt ? [{ text: `[${alt}]`, style: {} }] : []
}

function reference(node: ElementNode, { notes }: Context): Run[] {
  const id = `${node.tag === 'footnoteReference' ? 'footnotes' : 'endnotes'} ${attr(node, 'id')}`
  notes.push(id)
  return [{ text: String(notes.length), style: { raised: 'sup' } }]
}

/** Returns the notes as a numbered list at the end. */
async function notes(zip: ZipArchive, folder: string, context: Context): Promise<TreeNode[]> {
  if (context.notes.length === 0) return []
  const known = new Map<string, ElementNode>()
  for (const [file, tag] of [
    ['footnotes', 'footnote'],
    ['endnotes', 'endnote'],
  ] as const)
    for (const note of all(await xmlOf(zip, `${folder}${file}.xml`), tag))
      known.set(`${file} ${attr(note, 'id')}`, note)
  const entries = [...context.notes].map((id) => elementAround('li', blocks(known.get(id), context)))
  return [element('hr', {}), elementAround('ol', entries.filter(isElement))]
}
