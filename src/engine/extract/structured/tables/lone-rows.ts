/** Assigns rows with a single cell to the records around them: headings of groups, and details of the row above. */
import { replaceRuns } from '../../../../core/text/pieces.ts'
import { childElements, type ElementNode, elementsOf, visibleText } from '../../tree.ts'
import { isHeadingCell } from '../../table-parts.ts'
import type { Row } from '../../markdown/table.ts'

/** Texts of rows with a single cell that belong to a record. */
export interface Beside {
  /** Heading of the rows that the record is one of. */
  readonly group?: string
  /** Text of the rows below the record. */
  readonly details?: string
}

const maxGroup = 200
const maxDetails = 2000

/** Returns the texts beside each row; `isRecord` is false for rows that are no records. */
export function besideRows(rows: readonly Row[], isRecord: (at: number) => boolean): Beside[] {
  const lone = rows.map((_, at) => (isRecord(at) ? undefined : loneCell(rows[at]!)))
  const first = rows.findIndex((_, at) => isRecord(at) || lone[at])
  const isGrouped = lone[first] !== undefined
  const found: Beside[] = rows.map(() => ({}))
  let group = ''
  let last: number | undefined
  for (const [at, cell] of lone.entries()) {
    if (rows[at]!.foot) group = ''
    if (isRecord(at)) {
      found[at] = group === '' ? {} : { group }
      last = at
    } else if (cell && (isGrouped || isHeadingCell(cell) || isTitle(cell))) {
      group = visibleText(cell, maxGroup)
      last = undefined
    } else if (cell && last !== undefined && !isOfControls(cell)) {
      const { details, ...others } = found[last]!
      const text = visibleText(cell, maxDetails)
      found[last] = { ...others, details: details === undefined ? text : `${details} ${text}` }
    }
  }
  return found
}

const loneCell = ({ cells: [cell, ...others], head }: Row): ElementNode | undefined =>
  cell && !head && others.length === 0 && visibleText(cell, 1) !== '' ? cell : undefined

/** Whether a cell has only a bold text, like a heading. */
export function isTitle(cell: ElementNode): boolean {
  const [bold, ...others] = childElements(cell)
  return others.length === 0 && /^(?:b|strong)$/.test(bold?.tag ?? '') && dense(cell) === dense(bold!)
}

/** Whether a cell has only buttons or links, such as one that shows more rows. */
const isOfControls = (cell: ElementNode): boolean => {
  const controls = elementsOf(cell, (element) => !isControlOrLink(element)).filter(isControlOrLink)
  return dense(cell) === controls.map(dense).join('')
}

const isControlOrLink = ({ tag, attributes }: ElementNode): boolean =>
  /^(?:a|button)$/.test(tag) || attributes['role'] === 'button'

const dense = (element: ElementNode): string => replaceRuns(visibleText(element), /\s+/g, '')
