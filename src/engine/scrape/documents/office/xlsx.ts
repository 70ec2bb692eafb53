/** Converts workbooks: each sheet is a section with its tables. */
import { limits } from '../../../../core/limits/limits.ts'
import type { ElementNode, TreeNode } from '../../../extract/tree.ts'
import { element } from '../document.ts'
import { type CellFormat, cellFormat, general } from './cell-format.ts'
import type { OfficeContent } from './office-content.ts'
import { OfficeError } from './office-error.ts'
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
import { type Cell, type Row, sheetNodes } from './sheet-tables.ts'
import { drawingNodes } from './drawings/xlsx-drawings.ts'
import type { ZipArchive } from './zip.ts'

interface Book {
  readonly shared: readonly string[]
  /** Formats of cells by style. */
  readonly formats: readonly CellFormat[]
  /** References of cells whose column or value does not exist, and names of sheets that are missing. */
  readonly lost: string[]
}

export async function xlsxContent(zip: ZipArchive): Promise<OfficeContent> {
  const main = await mainPart(zip, 'xl/workbook.xml')
  const workbook = await requiredXml(zip, main)
  const relations = await relationsOf(zip, main)
  const target = (type: string, fallback: string) =>
    [...relations.values()].find((one) => one.type === type)?.target ?? fallback
  const since1904 = /^(?:1|true)$/.test(first(workbook, 'workbookPr')?.attributes['date1904'] ?? '')
  const book: Book = {
    shared: all(await xmlOf(zip, target('sharedStrings', 'xl/sharedStrings.xml')), 'si').map(stringOf),
    formats: formatsOf(await xmlOf(zip, target('styles', 'xl/styles.xml')), since1904),
    lost: [],
  }
  let left = limits.office.cells
  const take = (cells: number) => {
    if ((left -= cells) < 0) throw new OfficeError('large', `the workbook has more than ${limits.office.cells} cells`)
  }
  const nodes: TreeNode[] = []
  for (const [at, { attributes }] of all(first(workbook, 'sheets'), 'sheet').entries()) {
    const part = relations.get(attributes['r:id'] ?? '')
    const sheet = part && !part.isExternal ? await xmlOf(zip, part.target) : undefined
    const name = attributes['name'] || `Sheet ${at + 1}`
    if (!sheet) book.lost.push(name)
    const isHidden = /hidden$/i.test(attributes['state'] ?? '')
    nodes.push(element('h2', {}, isHidden ? `${name} (hidden)` : name))
    if (!sheet) continue
    const links = await relationsOf(zip, part!.target)
    nodes.push(...sheetNodes(rowsOf(sheet, linksOf(links, sheet), book), take), ...(await drawingNodes(zip, links)))
  }
  const { lost } = book
  const warning = `${lost.length} cells or sheets cannot be read, such as ${lost[0]}`
  return { nodes, ...(await coreFacts(zip)), ...(lost.length > 0 && { warning }) }
}

/** Returns the text of a string, without its phonetic hints. */
const stringOf = (node: ElementNode): string =>
  all({ ...node, children: children(node).filter(({ tag }) => tag !== 'rPh') }, 't')
    .map(textOf)
    .join('')

/** Returns the URLs of cells, by reference. */
function linksOf(relations: Relations, sheet: ElementNode): Map<string, string> {
  return new Map(
    all(first(sheet, 'hyperlinks'), 'hyperlink').flatMap(({ attributes: { ref = '', 'r:id': id = '', location } }) => {
      const link = relations.get(id)
      if (!link?.isExternal) return []
      return [[ref.replace(/:.*/, ''), location ? `${link.target}#${location}` : link.target] as const]
    }),
  )
}

/** Returns the rows of a sheet that have content. */
function rowsOf(sheet: ElementNode, links: ReadonlyMap<string, string>, book: Book): Row[] {
  const rows: Row[] = []
  let nextRow = 0
  for (const row of children(first(sheet, 'sheetData'), 'row')) {
    const cells = new Map<number, Cell>()
    const number = Number(row.attributes['r'] ?? '')
    const at = Number.isInteger(number) && number > 0 ? number - 1 : nextRow
    nextRow = at + 1
    let next = 0
    for (const node of children(row, 'c')) {
      const column = columnOf(node.attributes['r']) ?? next
      next = column + 1
      const cell = cellOf(node, book)
      if (cell === undefined || cell.text === '') continue
      if (column > limits.office.columns) book.lost.push(node.attributes['r'] ?? 'a cell')
      else cells.set(column, { ...cell, href: links.get(node.attributes['r'] ?? '') ?? cell.href })
    }
    if (cells.size > 0) rows.push({ at, cells })
  }
  return rows
}

/** Returns the index of a column, from a reference such as `AB12`. */
function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/i.exec(reference ?? '') ?? []
  if (letters === undefined) return undefined
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.codePointAt(0)! - 64, 0) - 1
}

function cellOf(node: ElementNode, book: Book): Cell | undefined {
  const { t: type = 'n', s: style = '0' } = node.attributes
  const format = book.formats[Number(style)] ?? general
  const string = (text: string | undefined): Cell => ({ text: format(text ?? '').trim(), isText: true })
  if (type === 'inlineStr') return string(stringOf(child(node, 'is') ?? node))
  const value = textOf(child(node, 'v'))
  const formula = textOf(child(node, 'f')).trim()
  const lose = () => book.lost.push(node.attributes['r'] ?? 'a cell')
  if (value === '') {
    // Programs that do not calculate store formulas without results.
    if (formula === '' && child(node, 'f')?.attributes['t'] === 'shared') lose()
    return type === 'str' || formula === '' ? undefined : { text: `=${formula}`, isText: true }
  }
  const href = /^HYPERLINK\(\s*"((?:[^"]|"")+)"/i.exec(formula)?.[1]?.replaceAll('""', '"')
  if (type === 's') {
    const text = book.shared[Number(value)]
    if (text === undefined) lose()
    return string(text)
  }
  if (type === 'str') return { ...string(value), href }
  if (type === 'b') return { text: /^(?:1|true)$/i.test(value) ? 'TRUE' : 'FALSE', isText: false }
  const number = Number(value)
  const isNumber = type === 'n' && value.trim() !== '' && Number.isFinite(number)
  return { text: (isNumber ? format(number) : value).trim(), href, isText: false }
}

function formatsOf(styles: ElementNode | undefined, since1904: boolean): CellFormat[] {
  const codes = new Map(
    all(first(styles, 'numFmts'), 'numFmt').map(({ attributes }) => [attributes['numFmtId'], attributes['formatCode']]),
  )
  const formats = new Map<string, CellFormat>()
  return children(first(styles, 'cellXfs'), 'xf').map(({ attributes: { numFmtId: id = '0' } }) => {
    const format = formats.get(id) ?? cellFormat(Number(id), codes.get(id), since1904)
    formats.set(id, format)
    return format
  })
}
