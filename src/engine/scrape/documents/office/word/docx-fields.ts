/** Fields of Word documents: instructions, such as links, and their results. */
import type { ElementNode } from '../../../../extract/tree.ts'
import type { Run } from '../inline.ts'
import { all, textOf } from '../office-xml.ts'

interface Field {
  instruction: string
  hasResult: boolean
}

export interface Fields {
  /** Fields that are open, with the links of their results. */
  readonly fields: Field[]
  /** Beginnings of fields that also end; other fields would hide all text after them. */
  readonly complete: ReadonlySet<ElementNode>
}

const attr = (node: ElementNode, name: string): string | undefined => node.attributes[name]

/** Follows fields from their instructions to their results. */
export function field(node: ElementNode, { fields, complete }: Fields): Run[] {
  const last = fields.at(-1)
  if (node.tag === 'instrText') {
    if (last && !last.hasResult) last.instruction += textOf(node)
  } else if (attr(node, 'fldCharType') === 'begin') {
    if (complete.has(node)) fields.push({ instruction: '', hasResult: false })
  } else if (attr(node, 'fldCharType') === 'separate' && last) last.hasResult = true
  else if (attr(node, 'fldCharType') === 'end') fields.pop()
  return []
}

/** Returns the beginnings of fields that also end. */
export function completeFields(document: ElementNode): Set<ElementNode> {
  const open: ElementNode[] = []
  const complete = new Set<ElementNode>()
  for (const node of all(document, 'fldChar')) {
    if (attr(node, 'fldCharType') === 'begin') open.push(node)
    const begin = attr(node, 'fldCharType') === 'end' ? open.pop() : undefined
    if (begin) complete.add(begin)
  }
  return complete
}

export const fieldLink = (fields: readonly Field[]): string | undefined =>
  fields.map(({ instruction }) => linkOf(instruction)).findLast((href) => href !== undefined)

/** Returns the URL of a HYPERLINK instruction. */
export function linkOf(instruction: string): string | undefined {
  const [, quoted, bare] = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))/i.exec(instruction) ?? []
  const url = quoted?.replaceAll('\\\\', '\\') ?? bare
  const [, anchor] = /\s\\l\s+"([^"]*)"/.exec(instruction) ?? []
  return url && (anchor ? `${url}#${anchor}` : url)
}
