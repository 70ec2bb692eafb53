/** Converts workbooks: each sheet is a table. */
import { limits } from '../../../../core/limits/limits.ts'
import type { ElementNode, TreeNode } from '../../../extract/tree.ts'
import { element } from '../document.ts'
import { tableOf } from './inline.ts'
import type { OfficeContent } from './office.ts'
import { OfficeError } from './office-error.ts'
import { all, child, children, coreFacts, first, relationsOf, requiredXml, textOf, xmlOf } from './office-xml.ts'
import type { ZipArchive } from './zip.ts'

const main = 'xl/workbook.xml'

interface Book {
  readonly shared: readonly string[]
  /** Formats of cells by style: dates, or undefined. */
  readonly dates: readonly ('date' | 'time' | 'both' | undefined)[]
  /** Days count from 1904 instead of 1900. */
  readonly since1904: boolean
  /** References of cells whose column or text does not exist, and names of sheets that are missing. */
  readonly lost: string[]
}

export async function xlsxContent(zip: ZipArchive): Promise<OfficeContent> {
  const workbook = await requiredXml(zip, main)
  const relations = await relationsOf(zip, main)
  const target = (type: string, fallback: string) => [...relations.values()].find((one) => one.type === type)?.target ?? fallback // prettier-ignore
  const book: Book = {
    shared: all(await xmlOf(zip, target('sharedStrings', 'xl/sharedStrings.xml')), 'si').map(stringOf),
    dates: dateStyles(await xmlOf(zip, target('styles', 'xl/styles.xml'))),
    since1904: /^(?:1|true)$/.test(first(workbook, 'workbookPr')?.attributes['date1904'] ?? ''),
    lost: [],
  }
  let left = limits.office.cells
  const nodes: TreeNode[] = []
  for (const [at, { attributes }] of all(first(workbook, 'sheets'), 'sheet').entries()) {
    const part = relations.get(attributes['r:id'] ?? '')
    const sheet = part && !part.isExternal ? await xmlOf(zip, part.target) : undefined
    const name = attributes['name'] || `Sheet ${at + 1}`
    if (!sheet) book.lost.push(name)
    const rows = sheet ? rowsOf(sheet, book) : []
    left -= rows.reduce((sum, row) => sum + row.length, 0)
    if (left < 0) throw tooLarge()
    const table = tableOf(rows.map((row) => row.map((text) => [{ text }])))
    nodes.push(element('h2', {}, name), ...table)
  }
  const { lost } = book
  const warning = `${lost.length} cells or sheets cannot be read, such as ${lost[0]}`
  return { nodes, ...(await coreFacts(zip)), ...(lost.length > 0 && { warning }) }
}

const tooLarge = () => new OfficeError('large', `the workbook has more than ${limits.office.cells} cells`)

/** Returns the text of a string, without its phonetic hints. */
const stringOf = (node: ElementNode): string => all({ ...node, children: children(node).filter(({ tag }) => tag !== 'rPh') }, 't').map(textOf).join('') // prettier-ignore

/** Returns the rows of a sheet as texts, without empty rows and columns at the ends. */
function rowsOf(sheet: ElementNode, book: Book): string[][] {
  const rows: string[][] = []
  let [firstColumn, width] = [Infinity, 0]
  for (const row of children(first(sheet, 'sheetData'), 'row')) {
    const cells: string[] = []
    let next = 0
    for (const cell of children(row, 'c')) {
      const at = columnOf(cell.attributes['r']) ?? next
      next = at + 1
      const text = cellText(cell, book).trim()
      if (text === '') continue
      if (at > limits.office.columns) {
        book.lost.push(cell.attributes['r'] ?? 'a cell')
        continue
      }
      cells[at] = text
      firstColumn = Math.min(firstColumn, at)
      width = Math.max(width, at + 1)
    }
    if (cells.length > 0) rows.push(cells)
  }
  // A cell far to the right makes all rows as wide.
  if (rows.length * (width - firstColumn) > limits.office.cells) throw tooLarge()
  return rows.map((cells) => Array.from({ length: width - firstColumn }, (_, at) => cells[firstColumn + at] ?? ''))
}

/** Returns the index of a column, from a reference such as `AB12`. */
function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/i.exec(reference ?? '') ?? []
  if (letters === undefined) return undefined
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.codePointAt(0)! - 64, 0) - 1
}

function cellText(cell: ElementNode, book: Book): string {
  const { t: type, s: style } = cell.attributes
  if (type === 'inlineStr') return stringOf(child(cell, 'is') ?? cell)
  const value = textOf(child(cell, 'v'))
  if (type === 's' && value !== '') {
    const text = book.shared[Number(value)]
    if (text === undefined) book.lost.push(cell.attributes['r'] ?? 'a cell')
    return text ?? ''
  }
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  const format = book.dates[Number(style ?? 0)]
  if ((type === undefined || type === 'n') && format && value !== '' && Number.isFinite(Number(value)))
    return dateText(Number(value), format, book.since1904)
  return value
}

/** Built-in formats of dates and times. */
const builtIn: Readonly<Record<number, 'date' | 'time' | 'both'>> = {
  14: 'date', 15: 'date', 16: 'date', 17: 'date', 18: 'time', 19: 'time', 20: 'time', 21: 'time', 22: 'both', 45: 'time', 46: 'time', 47: 'time',
} // prettier-ignore

function dateStyles(styles: ElementNode | undefined): Book['dates'] {
  const own = new Map(all(styles, 'numFmt').map(({ attributes }) => [attributes['numFmtId'], attributes['formatCode'] ?? ''])) // prettier-ignore
  return children(first(styles, 'cellXfs'), 'xf').map(({ attributes }) => {
    const id = attributes['numFmtId'] ?? '0'
    const code = own
      .get(id)
      ?.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
      .toLowerCase()
    if (code === undefined) return builtIn[Number(id)]
    const [hasDate, hasTime] = [/[yd]/.test(code), /[hs]/.test(code)]
    return hasDate && hasTime ? 'both' : hasDate ? 'date' : hasTime ? 'time' : undefined
  })
}

function dateText(days: number, format: 'date' | 'time' | 'both', since1904: boolean): string {
  const start = since1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30)
  const date = new Date(start + Math.round(days * 86_400) * 1000)
  if (Number.isNaN(date.getTime())) return String(days)
  const [day, time] = date.toISOString().slice(0, 19).split('T') as [string, string]
  return format === 'date' ? day : format === 'time' ? time : `${day} ${time}`
}
