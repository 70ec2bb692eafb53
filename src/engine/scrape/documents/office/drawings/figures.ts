/** Loads charts and diagrams of office documents, which are parts of their own. */
import type { ElementNode, TreeNode } from '../../../../extract/tree.ts'
import { chartNodes } from './charts.ts'
import { diagramNodes } from './diagrams.ts'
import { first, type Relations, xmlOf } from '../office-xml.ts'
import type { ZipArchive } from '../zip.ts'

/** Figures by the ID of their relationship. */
export type Figures = ReadonlyMap<string, readonly TreeNode[]>

/** Loads the figures that a part refers to. */
export async function figuresOf(zip: ZipArchive, relations: Relations): Promise<Figures> {
  const figures = new Map<string, TreeNode[]>()
  for (const [id, { target, isExternal, type }] of relations) {
    if (isExternal) continue
    if (/^chart(?:Ex)?$/.test(type)) figures.set(id, chartNodes(await xmlOf(zip, target)))
    else if (type === 'diagramData') figures.set(id, diagramNodes(await xmlOf(zip, target)))
  }
  return figures
}

/** Returns the figure in a `graphicData` element; undefined for other content. */
export function figureIn(graphic: ElementNode, figures: Figures): readonly TreeNode[] | undefined {
  const id = first(graphic, 'chart')?.attributes['r:id'] ?? first(graphic, 'relIds')?.attributes['r:dm']
  return id === undefined ? undefined : figures.get(id)
}
