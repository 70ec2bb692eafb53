/** Reads headings, lists and hidden text from the styles of Word documents. */
import type { ElementNode } from '../../../../extract/tree.ts'
import { all, child, first } from '../office-xml.ts'

export interface ListStyle {
  readonly id?: string | undefined
  readonly level?: number | undefined
}

const attr = (node: ElementNode | undefined, name: string): string | undefined => node?.attributes[name]

/** Whether a property is set: elements without a value are. */
export const isOn = (node: ElementNode | undefined): boolean =>
  node !== undefined && !/^(?:0|false|off|none)$/.test(attr(node, 'val') ?? '1')

/** Returns the heading levels of styles by ID. */
export function headingsOf(styles: ElementNode | undefined): Map<string, number> {
  const levels = new Map<string, number>()
  for (const style of all(styles, 'style')) {
    const name = attr(child(style, 'name'), 'val') ?? ''
    const outline = attr(first(child(style, 'pPr'), 'outlineLvl'), 'val')
    const [, named] = /^heading (\d)$/i.exec(name) ?? []
    const level = /^title$/i.test(name)
      ? 1
      : named
        ? Number(named)
        : outline === undefined
          ? undefined
          : Number(outline) + 1
    if (level !== undefined && level >= 1 && level <= 9) levels.set(attr(style, 'styleId') ?? '', Math.min(level, 6))
  }
  return levels
}

/** Returns lists and levels of styles; a style has those of the style that it is based on, unless it has its own. */
export function listStylesOf(
  styles: ElementNode | undefined,
  numbering: ElementNode | undefined,
): Map<string, ListStyle> {
  const byId = new Map(all(styles, 'style').map((style) => [attr(style, 'styleId') ?? '', style]))
  const linked = new Map(
    all(numbering, 'lvl').map((level) => [attr(child(level, 'pStyle'), 'val'), Number(attr(level, 'ilvl')) || 0]),
  )
  const found = new Map<string, ListStyle>()
  for (const [id, style] of byId) {
    let number: ElementNode | undefined
    let from: ElementNode | undefined = style
    for (let steps = 0; from && !number && steps < 32; steps++) {
      number = child(child(from, 'pPr'), 'numPr')
      if (!number) from = byId.get(attr(child(from, 'basedOn'), 'val') ?? '')
    }
    if (!number) continue
    const level = linked.get(id) ?? Number(attr(child(number, 'ilvl'), 'val') ?? 0)
    const [, nested] = /^list (?:bullet|number) ([2-5])$/i.exec(attr(child(style, 'name'), 'val') ?? '') ?? []
    found.set(id, { id: attr(child(number, 'numId'), 'val'), level: nested && level === 0 ? -Number(nested) : level })
  }
  return found
}

/** Returns the styles whose text is hidden, by their own properties or those of the style that they are based on. */
export function hiddenStylesOf(styles: ElementNode | undefined): Set<string> {
  const byId = new Map(all(styles, 'style').map((style) => [attr(style, 'styleId') ?? '', style]))
  const isHiddenStyle = (id: string, steps = 0): boolean => {
    const own = child(child(byId.get(id), 'rPr'), 'vanish')
    const base = attr(child(byId.get(id), 'basedOn'), 'val')
    return own ? isOn(own) : base !== undefined && steps < 32 && isHiddenStyle(base, steps + 1)
  }
  return new Set([...byId.keys()].filter((id) => isHiddenStyle(id)))
}
