/** Reads drawings of sheets: text of shapes, descriptions of images, and titles of charts, whose values are in cells. */
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { element } from '../../document.ts'
import { chartTitle } from './charts.ts'
import { first, relationsOf, type Relations, xmlOf } from '../office-xml.ts'
import { orderedShapes } from './shape-order.ts'
import { paragraphs } from './shape-text.ts'
import type { ZipArchive } from '../zip.ts'

/** Returns the texts of the drawings of a sheet; `relations` are those of the sheet. */
export async function drawingNodes(zip: ZipArchive, relations: Relations): Promise<TreeNode[]> {
  const nodes: TreeNode[] = []
  for (const { target, isExternal, type } of relations.values()) {
    if (type !== 'drawing' || isExternal) continue
    const links = await relationsOf(zip, target)
    const drawing = first(await xmlOf(zip, target), 'wsDr')
    for (const shape of (drawing?.children ?? []).flatMap((anchor) =>
      orderedShapes('tag' in anchor ? anchor : undefined, () => []),
    ))
      nodes.push(...(await shapeNodes(zip, shape, links)))
  }
  return nodes
}

async function shapeNodes(zip: ZipArchive, shape: ElementNode, links: Relations): Promise<TreeNode[]> {
  const link = (id: string | undefined) => links.get(id ?? '')
  const part = link(first(shape, 'chart')?.attributes['r:id'])
  const title = part && !part.isExternal ? chartTitle(await xmlOf(zip, part.target)) : ''
  if (title) return [element('p', {}, title)]
  const text = paragraphs(shape, (id) => (link(id)?.isExternal ? link(id)!.target : undefined))
  if (text.length > 0) return text
  const alt = first(shape, 'cNvPr')?.attributes['descr']?.trim()
  return alt ? [element('p', {}, `[${alt}]`)] : []
}
