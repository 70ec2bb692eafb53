/** Converts presentations: each slide is a section, with its notes. */
import { type ElementNode, isElement, type TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { figureIn, type Figures, figuresOf } from './drawings/figures.ts'
import { tableOf } from './inline.ts'
import type { OfficeContent } from './office-content.ts'
import {
  all,
  child,
  children,
  coreFacts,
  first,
  type Relations,
  relationsOf,
  requiredXml,
  xmlOf,
} from './office-xml.ts'
import { type Inherit, inheritFrom, orderedShapes, placeholderOf } from './drawings/shape-order.ts'
import { type Href, paragraphs, titleNodes } from './drawings/shape-text.ts'
import type { ZipArchive } from './zip.ts'

interface Context {
  readonly href: Href
  readonly figures: Figures
  readonly inherit: Inherit
}

/** Layouts and masters, which slides share, by part. */
type Layouts = Map<string, Inherit>

const main = 'ppt/presentation.xml'

export async function pptxContent(zip: ZipArchive): Promise<OfficeContent> {
  const relations = await relationsOf(zip, main)
  const slides = all(first(await requiredXml(zip, main), 'sldIdLst'), 'sldId').flatMap(({ attributes }) => {
    const slide = relations.get(attributes['r:id'] ?? '')
    return slide && !slide.isExternal && zip.has(slide.target) ? [slide.target] : []
  })
  const layouts: Layouts = new Map()
  const nodes: TreeNode[] = []
  for (const [at, part] of slides.entries())
    nodes.push(elementAround('section', await slide(zip, part, at + 1, layouts)))
  return { nodes, ...(await coreFacts(zip)), pages: slides.length }
}

async function slide(zip: ZipArchive, part: string, number: number, layouts: Layouts): Promise<TreeNode[]> {
  const relations = await relationsOf(zip, part)
  const href = (id: string | undefined) => {
    const link = relations.get(id ?? '')
    return link?.isExternal ? link.target : undefined
  }
  const root = child(await requiredXml(zip, part), 'sld')
  const isHidden = /^(?:0|false)$/.test(root?.attributes['show'] ?? '')
  const context = { href, figures: await figuresOf(zip, relations), inherit: await layoutOf(zip, relations, layouts) }
  const shapes = orderedShapes(first(child(root, 'cSld'), 'spTree'), context.inherit)
  const titleShape = shapes.find((shape) => shape.tag === 'sp' && /^(?:ctrT|t)itle$/.test(typeOf(shape)))
  const body = shapes.filter((shape) => shape !== titleShape).flatMap((shape) => content(shape, context))
  const notesPart = partOf(relations, 'notesSlide')
  const notes = notesPart ? notesOf(await xmlOf(zip, notesPart)) : []
  const title = titleShape ? titleNodes(titleShape, href) : []
  const name = title.some((node) => isElement(node) || node.text.trim() !== '') ? title : [{ text: `Slide ${number}` }]
  return [elementAround('h2', isHidden ? [...name, { text: ' (hidden)' }] : name), ...body, ...notes]
}

const typeOf = (shape: ElementNode): string => placeholderOf(shape)?.attributes['type'] ?? ''

const partOf = (relations: Relations, type: string): string | undefined =>
  [...relations.values()].find((one) => one.type === type && !one.isExternal)?.target

/** Returns what the placeholders of a slide inherit. */
async function layoutOf(zip: ZipArchive, relations: Relations, known: Layouts): Promise<Inherit> {
  const layout = partOf(relations, 'slideLayout')
  if (layout === undefined) return () => []
  const found = known.get(layout)
  if (found) return found
  const master = partOf(await relationsOf(zip, layout), 'slideMaster')
  const inherit = inheritFrom(await xmlOf(zip, layout), master === undefined ? undefined : await xmlOf(zip, master))
  known.set(layout, inherit)
  return inherit
}

function content(shape: ElementNode, { href, figures, inherit }: Context): TreeNode[] {
  const table = first(shape, 'tbl')
  if (table)
    return tableOf(children(table, 'tr').map((row) => children(row, 'tc').map((cell) => paragraphs(cell, href))))
  if (shape.tag === 'pic' || shape.tag === 'graphicFrame') {
    const figure = figureIn(shape, figures)
    if (figure && figure.length > 0) return [...figure]
    const alt = first(shape, 'cNvPr')?.attributes['descr']?.trim()
    return alt ? [element('p', {}, `[${alt}]`)] : []
  }
  const isBody = placeholderOf(shape) !== undefined && /^(?:body|obj|)$/.test(typeOf(shape))
  return paragraphs(shape, href, { isBody, inherited: inherit(shape) })
}

function notesOf(notes: ElementNode | undefined): TreeNode[] {
  const bodies = all(notes, 'sp').filter((shape) => typeOf(shape) === 'body')
  const nodes = bodies.flatMap((shape) => paragraphs(shape, () => undefined))
  return nodes.length > 0 ? [elementAround('blockquote', nodes)] : []
}
