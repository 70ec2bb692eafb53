/** Recognizes the parts of tables: those of HTML, and elements that ARIA roles make a table of. */
import { type ElementNode, isElement, isSilent } from './tree.ts'

const tables = /^(?:table|grid|treegrid)$/
const cells = /^(?:cell|gridcell|columnheader|rowheader)$/
const headings = /^(?:columnheader|rowheader)$/

const role = ({ attributes }: ElementNode): string => attributes['role'] ?? ''

/** Whether the role of an element is that of a table. */
export const hasTableRole = (element: ElementNode): boolean => tables.test(role(element))

/** Whether an element other than `<table>` is a table, without text outside its cells. */
export const isRoleTable = (element: ElementNode): boolean =>
  element.tag === 'div' && hasTableRole(element) && !holdsOthers(element)

const holdsOthers = ({ children }: ElementNode): boolean =>
  children.some((child) => {
    if (!isElement(child)) return /\S/.test(child.text)
    return child.tag === 'table' || (!isCell(child) && !isSilent(child) && holdsOthers(child))
  })

export const isRow = (element: ElementNode): boolean => element.tag === 'tr' || role(element) === 'row'

export const isCell = (element: ElementNode): boolean =>
  element.tag === 'td' || element.tag === 'th' || cells.test(role(element))

/** Whether an element is the heading of a row or column. */
export const isHeadingCell = (element: ElementNode): boolean => element.tag === 'th' || headings.test(role(element))
