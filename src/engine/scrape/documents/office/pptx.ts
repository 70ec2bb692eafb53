/** Converts presentations: each slide is a section, with its notes. */
import { type ElementNode, type TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { inlineNodes, type ListItem, listOf, type Run, tableOf } from './inline.ts'
import type { OfficeContent } from './office.ts'
import { all, child, children, coreFacts, first, relationsOf, requiredXml, textOf, xmlOf } from './office-xml.ts'
import type { ZipArchive } from './zip.ts'

const main = 'ppt/presentation.xml'

export async function pptxContent(zip: ZipArchive): Promise<OfficeContent> {
  const relations = await relationsOf(zip, main)
  const slides = all(first(await requiredXml(zip, main), 'sldIdLst'), 'sldId').flatMap(({ attributes }) => {
    const slide = relations.get(attributes['r:id'] ?? '')
    return slide && !slide.isExternal && zip.has(slide.target) ? [slide.target] : []
  })
  const nodes: TreeNode[] = []
  for (const [at, part] of slides.entries()) nodes.push(elementAround('section', await slide(zip, part, at + 1)))
  return { nodes, ...(await coreFacts(zip)), pages: slides.length }
}

async function slide(zip: ZipArchive, part: string, number: number): Promise<TreeNode[]> {
  const relations = await relationsOf(zip, part)
  const href = (id: string | undefined) => {
    const link = relations.get(id ?? '')
    return link?.isExternal ? link.target : undefined
  }
  const root = child(await requiredXml(zip, part), 'sld')
  const isHidden = /^(?:0|false)$/.test(root?.attributes['show'] ?? '')
  const shapes = shapesIn(child(root, 'cSld'))
  const isTitle = (shape: ElementNode) => /^(?:ctrT|t)itle$/.test(first(child(shape, 'nvSpPr'), 'ph')?.attributes['type'] ?? '') // prettier-ignore
  const titleShape = shapes.find((shape) => shape.tag === 'sp' && isTitle(shape))
  const title = titleShape && all(titleShape, 'p').map(textOf).join(' ').trim()
  const body = shapes.filter((shape) => shape !== titleShape).flatMap((shape) => content(shape, href))
  const notesPart = [...relations.values()].find(({ type, isExternal }) => type === 'notesSlide' && !isExternal)
  const notes = notesPart ? notesOf(await xmlOf(zip, notesPart.target)) : []
  const name = title || `Slide ${number}`
  return [element('h2', {}, isHidden ? `${name} (hidden)` : name), ...body, ...notes]
}

/** Returns the shapes of a slide, also those in groups. */
const shapesIn = (node: ElementNode | undefined): ElementNode[] =>
  children(node).flatMap(
    (one) =>
    ['spTree', 'grpSp', 'AlternateContent', 'Choice'].includes(one.tag) ? shapesIn(one) : ['sp', 'graphicFrame', 'pic', 'cxnSp'].includes(one.tag) ? [one] : [], // prettier-ignore
  )

type Href = (id: string | undefined) => string | undefined

function content(shape: ElementNode, href: Href): TreeNode[] {
  const table = first(shape, 'tbl')
  if (table)
    return tableOf(children(table, 'tr').map((row) => children(row, 'tc').map((cell) => paragraphs(cell, href))))
  if (shape.tag === 'pic') {
    const alt = first(shape, 'cNvPr')?.attributes['descr']?.trim()
    return alt ? [element('p', {}, `[${alt}]`)] : []
  }
  return paragraphs(shape, href, first(shape, 'ph') !== undefined)
}

/** Returns the paragraphs of a shape; those of a placeholder are a list if there are several. */
function paragraphs(shape: ElementNode, href: Href, isBody = false): TreeNode[] {
  const lines = all(shape, 'p')
    .map((node) => ({ node, nodes: inlineNodes(runs(node, href)) }))
    .filter(({ nodes }) => nodes.length > 0)
  if (!isBody || lines.length < 2) return lines.map(({ nodes }) => elementAround('p', nodes))
  const items = lines.map(({ node, nodes }): ListItem => {
    const properties = child(node, 'pPr')
    const level = Math.min(Number(properties?.attributes['lvl'] ?? 0) || 0, 8)
    return { level, isOrdered: child(properties, 'buAutoNum') !== undefined, nodes }
  })
  return listOf(items)
}

function runs(node: ElementNode, href: Href): Run[] {
  return children(node).flatMap((one): Run[] => {
    if (one.tag === 'br') return [{ node: element('br', {}) }]
    if (one.tag !== 'r' && one.tag !== 'fld') return []
    const properties = child(one, 'rPr')
    const { b, i, strike } = properties?.attributes ?? {}
    const style = { bold: b === '1', italic: i === '1', strike: strike !== undefined && strike !== 'noStrike' }
    const link = href(child(properties, 'hlinkClick')?.attributes['r:id'])
    return [{ text: textOf(child(one, 't')), style: { ...style, href: link } }]
  })
}

function notesOf(notes: ElementNode | undefined): TreeNode[] {
  const bodies = all(notes, 'sp').filter((shape) => first(shape, 'ph')?.attributes['type'] === 'body')
  const nodes = bodies.flatMap((shape) => paragraphs(shape, () => undefined))
  return nodes.length > 0 ? [elementAround('blockquote', nodes)] : []
}
