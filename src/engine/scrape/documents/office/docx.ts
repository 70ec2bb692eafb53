/** Converts Word documents. */
import type { ElementNode, TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { inlineNodes, type ListItem, listOf, type Run, type RunStyle } from './inline.ts'
import { completeFields, field, fieldLink, type Fields, linkOf } from './word/docx-fields.ts'
import { headingsOf, hiddenStylesOf, isOn, type ListStyle, listStylesOf } from './word/docx-styles.ts'
import { type Chunk, chunksOf } from './word/docx-chunks.ts'
import { tableIn, wrappers } from './word/docx-tables.ts'
import { figureIn, type Figures, figuresOf } from './drawings/figures.ts'
import { Numbering } from './word/docx-numbering.ts'
import { symbolsOf } from './symbol-fonts.ts'
import type { OfficeContent } from './office-content.ts'
import {
  all,
  child,
  children,
  coreFacts,
  first,
  mainPart,
  type Relations,
  relationsOf,
  requiredXml,
  textOf,
  xmlOf,
} from './office-xml.ts'
import { formulaOf } from './omml.ts'
import type { ZipArchive } from './zip.ts'

interface Context extends Fields {
  readonly links: Relations
  readonly figures: Figures
  /** Documents inside this one that can be read, by relationship. */
  readonly chunks: ReadonlyMap<string, Chunk>
  /** Heading level by style ID. */
  readonly headings: ReadonlyMap<string, number>
  readonly numbering: Numbering
  /** Lists and levels of styles, by style ID. */
  readonly listStyles: ReadonlyMap<string, ListStyle>
  /** IDs of styles whose text is hidden. */
  readonly hidden: ReadonlySet<string>
  /** The style of the paragraph that is read. */
  readonly paragraphStyle: string
  /** IDs of notes in the order of their references. */
  readonly notes: string[]
}

const attr = (node: ElementNode | undefined, name: string): string | undefined => node?.attributes[name]

export async function docxContent(zip: ZipArchive): Promise<OfficeContent> {
  const part = await mainPart(zip, 'word/document.xml')
  const document = await requiredXml(zip, part)
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const styles = await xmlOf(zip, `${folder}styles.xml`)
  const numbering = await xmlOf(zip, `${folder}numbering.xml`)
  const links = await relationsOf(zip, part)
  const context: Context = {
    links,
    figures: await figuresOf(zip, links),
    chunks: await chunksOf(zip, links),
    headings: headingsOf(styles),
    numbering: new Numbering(numbering),
    listStyles: listStylesOf(styles, numbering),
    hidden: hiddenStylesOf(styles),
    fields: [],
    complete: completeFields(document),
    paragraphStyle: '',
    notes: [],
  }
  const nodes = blocks(first(document, 'body'), context)
  const chunks = all(document, 'altChunk').filter((chunk) => chunkIn(chunk, context)?.isPartial ?? true).length
  const warning = `the document contains ${chunks} other ${chunks === 1 ? 'document' : 'documents'} that cannot be read (altChunk)`
  return {
    nodes: [...nodes, ...(await notes(zip, folder, context))],
    ...(await coreFacts(zip)),
    ...(chunks > 0 && { warning }),
  }
}

function blocks(parent: ElementNode | undefined, context: Context): TreeNode[] {
  const nodes: TreeNode[] = []
  let items: ListItem[] = []
  /** Content of paragraphs whose end is deleted: it belongs to the next paragraph; and their text boxes. */
  let carried: TreeNode[] = []
  const late: TreeNode[] = []
  const flush = () => {
    nodes.push(...listOf(items))
    items = []
  }
  const flushAll = () => {
    flush()
    if (carried.length > 0) nodes.push(elementAround('p', carried))
    carried = []
    nodes.push(...late.splice(0))
  }
  const visit = (node: ElementNode) => {
    for (const one of children(node)) {
      if (wrappers.has(one.tag)) visit(one)
      else if (one.tag === 'tbl') {
        flushAll()
        nodes.push(...tableIn(one, (cell) => blocks(cell, context)))
      } else if (one.tag === 'altChunk') {
        flushAll()
        nodes.push(...(chunkIn(one, context)?.nodes ?? []))
      } else if (one.tag === 'p') paragraph(one)
    }
  }
  const paragraph = (node: ElementNode) => {
    const properties = child(node, 'pPr')
    const boxes: TreeNode[] = []
    const style = attr(child(properties, 'pStyle'), 'val') ?? ''
    const content = [...carried, ...inlineNodes(runs(node, { ...context, paragraphStyle: style }, {}, boxes))]
    carried = isMarkDeleted(properties) ? content : []
    if (carried.length > 0) return void late.push(...boxes)
    boxes.unshift(...late.splice(0))
    const outline = attr(child(properties, 'outlineLvl'), 'val')
    const level =
      context.headings.get(style) ?? (outline !== undefined && Number(outline) < 6 ? Number(outline) + 1 : undefined)
    const isEmpty = content.length === 0
    const list = isEmpty ? undefined : numberOf(properties, style, context)
    if (level !== undefined && !isEmpty) {
      flush()
      nodes.push(
        elementAround(`h${level}`, list?.label?.text ? [{ text: `${list.label.text} ` }, ...content] : content),
      )
    } else if (list?.label) {
      const { number, text } = list.label
      const label = number === undefined && text !== '' ? [{ text: `${text} ` }] : []
      items.push({ level: list.depth, isOrdered: number !== undefined, number, nodes: [...label, ...content] })
    } else if (!isEmpty) {
      flush()
      nodes.push(elementAround('p', content))
    }
    if (boxes.length > 0) flush()
    nodes.push(...boxes)
  }
  if (parent) visit(parent)
  flushAll()
  return nodes
}

const chunkIn = (node: ElementNode, { chunks }: Context) => chunks.get(attr(node, 'r:id') ?? '')

const isMarkDeleted = (properties: ElementNode | undefined): boolean => {
  const mark = child(properties, 'rPr')
  return child(mark, 'del') !== undefined || child(mark, 'moveFrom') !== undefined
}

/** Counts a paragraph of a list; the label is undefined when none is shown. */
function numberOf(properties: ElementNode | undefined, style: string, { numbering, listStyles }: Context) {
  const own = child(properties, 'numPr')
  const inherited = listStyles.get(style)
  const id = attr(child(own, 'numId'), 'val') ?? inherited?.id
  if (id === undefined || id === '0') return undefined
  const level = Number(attr(child(own, 'ilvl'), 'val') ?? inherited?.level ?? 0) || 0
  // Styles such as "List Bullet 2" are nested by their indentation alone.
  const counted = Math.min(Math.max(level, 0), 8)
  return { label: numbering.next(id, counted), depth: level < 0 ? -level - 1 : counted }
}

/** Returns the runs of a paragraph; paragraphs in text boxes go into `boxes`. */
function runs(node: ElementNode, context: Context, style: RunStyle, boxes: TreeNode[]): Run[] {
  return children(node).flatMap((one): Run[] => {
    switch (one.tag) {
      case 'r':
        return isHidden(child(one, 'rPr'), context)
          ? []
          : inFont(runs(one, context, { ...style, ...styleOf(child(one, 'rPr')) }, boxes), child(one, 'rPr'))
      case 't':
        return context.fields.some(({ hasResult }) => !hasResult)
          ? []
          : [{ text: textOf(one), style: { ...style, href: fieldLink(context.fields) ?? style.href } }]
      case 'fldChar':
      case 'instrText':
        return field(one, context)
      case 'fldSimple':
        return runs(one, context, { ...style, href: linkOf(attr(one, 'instr') ?? '') ?? style.href }, boxes)
      case 'tab':
      case 'ptab':
        return [{ text: '\t', style }]
      case 'br':
      case 'cr':
        return [{ node: element('br', {}) }]
      case 'noBreakHyphen':
        return [{ text: '\u2011', style }]
      case 'sym':
        return symbol(one, style)
      case 'hyperlink':
        return runs(one, context, { ...style, href: hrefOf(one, context) }, boxes)
      case 'footnoteReference':
      case 'endnoteReference':
        return reference(one, context)
      case 'docPr':
        return altText(one)
      case 'graphicData': {
        const figure = figureIn(one, context.figures)
        if (figure) boxes.push(...figure)
        return figure ? [] : runs(one, context, style, boxes)
      }
      case 'txbxContent':
        boxes.push(...blocks(one, context))
        return []
      case 'oMathPara':
        return children(one, 'oMath').map((formula) => ({ node: formulaOf(formula, true) }))
      case 'oMath':
        return [{ node: formulaOf(one, false) }]
      // Deleted text, properties, hints of pronunciation, and fallbacks for old programs.
      case 'rt':
      case 'del':
      case 'moveFrom':
      case 'pPr':
      case 'rPr':
      case 'Fallback':
      case 'delText':
        return []
      default:
        return runs(one, context, style, boxes)
    }
  })
}

const isHidden = (properties: ElementNode | undefined, { hidden, paragraphStyle }: Context): boolean => {
  const own = child(properties, 'vanish')
  return own ? isOn(own) : hidden.has(attr(child(properties, 'rStyle'), 'val') ?? '') || hidden.has(paragraphStyle)
}

function styleOf(properties: ElementNode | undefined): RunStyle {
  const raised = attr(child(properties, 'vertAlign'), 'val') ?? shifted(properties)
  return {
    ...(isOn(child(properties, 'b')) && { bold: true }),
    ...(isOn(child(properties, 'i')) && { italic: true }),
    ...((isOn(child(properties, 'strike')) || isOn(child(properties, 'dstrike'))) && { strike: true }),
    ...(raised === 'superscript' && { raised: 'sup' as const }),
    ...(raised === 'subscript' && { raised: 'sub' as const }),
  }
}

/** Small text that is moved up or down is raised, too. */
function shifted(properties: ElementNode | undefined): string | undefined {
  const by = child(properties, 'sz') ? Number(attr(child(properties, 'position'), 'val')) || 0 : 0
  return by > 0 ? 'superscript' : by < 0 ? 'subscript' : undefined
}

function hrefOf(node: ElementNode, { links }: Context): string | undefined {
  const link = links.get(attr(node, 'r:id') ?? '')
  return link?.isExternal ? link.target : undefined
}

function symbol(node: ElementNode, style: RunStyle): Run[] {
  const code = Number.parseInt(attr(node, 'char') ?? '', 16)
  return Number.isInteger(code) && code > 0 && code < 0xffff && (code < 0xd800 || code >= 0xe000)
    ? [{ text: symbolsOf(String.fromCodePoint(code), attr(node, 'font') ?? ''), style }]
    : []
}

/** Replaces letters of symbol fonts by what they show. */
function inFont(content: readonly Run[], properties: ElementNode | undefined): Run[] {
  const font = attr(child(properties, 'rFonts'), 'ascii') ?? ''
  return content.map((run) => ('text' in run ? { ...run, text: symbolsOf(run.text, font) } : run))
}

function altText({ attributes }: ElementNode): Run[] {
  const alt = attributes['descr']?.trim()
  return alt ? [{ text: `[${alt}]`, style: {} }] : []
}

function reference(node: ElementNode, { notes }: Context): Run[] {
  const id = `${node.tag === 'footnoteReference' ? 'footnotes' : 'endnotes'} ${attr(node, 'id')}`
  notes.push(id)
  const link = element('a', { href: `#note-${notes.length}` }, String(notes.length))
  return [{ node: element('sup', {}, link) }]
}

/** Returns the notes as footnotes at the end. */
async function notes(zip: ZipArchive, folder: string, context: Context): Promise<TreeNode[]> {
  if (context.notes.length === 0) return []
  const known = new Map<string, () => TreeNode[]>()
  for (const [file, tag] of [
    ['footnotes', 'footnote'],
    ['endnotes', 'endnote'],
  ] as const) {
    const part = `${folder}${file}.xml`
    const links = await relationsOf(zip, part)
    const own = { ...context, links, figures: await figuresOf(zip, links) }
    for (const note of all(await xmlOf(zip, part), tag))
      known.set(`${file} ${attr(note, 'id')}`, () => blocks(note, own))
  }
  const entries = [...context.notes].map((id, at): ElementNode => ({
    tag: 'li',
    attributes: { id: `note-${at + 1}` },
    children: known.get(id)?.() ?? [],
  }))
  return [element('section', { role: 'doc-endnotes' }, elementAround('ol', entries))]
}
