/** Texts of cells: what they show, the values of form fields, and the alternatives of icons and pictures. */
import { squeeze } from '../../../../core/text/pieces.ts'
import { unseen } from '../../markdown/anchors.ts'
import { cellLabel, iconLabel } from '../../markdown/icon.ts'
import {
  attribute,
  type ElementNode,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  rawText,
  visibleText,
} from '../../tree.ts'
import { imageUrl } from '../../urls.ts'

const pressed = /^(?:checkbox|radio)$/
const switched = /^(?:checkbox|radio|switch)$/
/** Input types without a value to read. */
const valueless = /^(?:hidden|password|file|button|submit|reset|image|checkbox|radio)$/

const typeOf = (element: ElementNode): string => attribute(element, 'type').toLowerCase()

/** Whether an element is a checkbox, a radio button or a switch. */
const isToggle = (element: ElementNode): boolean =>
  (element.tag === 'input' && pressed.test(typeOf(element))) || switched.test(attribute(element, 'role'))

/** Whether an element is a form field with a text. */
const isField = (element: ElementNode): boolean =>
  /^(?:select|textarea)$/.test(element.tag) || (element.tag === 'input' && !valueless.test(typeOf(element)))

/** Returns the values of the form fields in a cell. */
export const fieldTexts = (cell: ElementNode): string => elementsOf(cell).filter(isField).map(valueOf).join(' ').trim()

/** Returns the text of a cell; that of a checkbox, a radio button or a switch alone is `true` or `false`. */
export function cellText(cell: ElementNode, baseUrl: string): string {
  const text = readable(visibleText(shown(cell)))
  return text || stateOf(cell) || cellLabel(cell) || iconTexts(cell) || pictureTexts(cell, baseUrl)
}

/** Returns the text of a heading, without marks of sorting, references, and characters that cannot be seen. */
export function headingText(cell: ElementNode, limit: number): string {
  const bare = readable(visibleText(withPowers(without(cell, isBesideHeading)), limit))
  const text = bare || readable(visibleText(withPowers(cell), limit))
  return squeeze(text.replaceAll(sortMarks, '')) || text
}

const isBesideHeading = (element: ElementNode): boolean =>
  attribute(element, 'aria-hidden') === 'true' ||
  isUnseen(element) ||
  (element.tag === 'sup' && /^\[.+\]$/.test(visibleText(element, 10)))

const sortMarks = /^(?:[▲▼△▽▴▾↑↓⇅⇵↕🔼🔽]\uFE0F?\s*)+|(?:\s*[▲▼△▽▴▾↑↓⇅⇵↕🔼🔽]\uFE0F?)+$/gu

/** Returns a text without soft hyphens, marks of direction and spaces of no width, and with single blanks. */
const readable = (text: string): string => squeeze(text.replaceAll(invisible, ''))

const invisible = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/g

/** Returns a cell without the heading of its column, which small screens show in each cell. */
export function withoutHeading(cell: ElementNode, heading: string): ElementNode {
  const first = cell.children.find((child) => isElement(child) || child.text.trim() !== '')
  if (heading === '' || !first || !isElement(first) || readable(visibleText(first)).replace(/:$/, '') !== heading)
    return cell
  const rest = { ...cell, children: cell.children.filter((child) => child !== first) }
  return visibleText(rest, 1) === '' ? cell : rest
}

/** Returns a cell without form fields, checkboxes and buttons. */
export const withoutControls = (cell: ElementNode): ElementNode =>
  without(cell, (element) => element.tag === 'button' || isField(element) || isToggle(element))

/** Whether only screen readers announce an element. */
const isUnseen = (element: ElementNode): boolean =>
  hasClass(element, unseen) || /clip:\s*rect\(0|clip-path:\s*inset\(50%/i.test(attribute(element, 'style'))

function without(element: ElementNode, isLeftOut: (element: ElementNode) => boolean): ElementNode {
  if (!findElement(element, isLeftOut)) return element
  const children = element.children.filter((child) => !isElement(child) || !isLeftOut(child))
  return { ...element, children: children.map((child) => (isElement(child) ? without(child, isLeftOut) : child)) }
}

/** Returns an element with texts in place of its form fields, and without what only screen readers announce. */
function shown(cell: ElementNode): ElementNode {
  const seen = without(cell, isUnseen)
  const visible = visibleText(seen, 1) === '' ? cell : seen
  return withPowers(findElement(visible, isField) ? withValues(visible) : visible)
}

const withValues = (element: ElementNode): ElementNode => ({
  ...element,
  children: element.children.map((child) =>
    !isElement(child) ? child : isField(child) ? { text: ` ${valueOf(child)} ` } : withValues(child),
  ),
})

/** Returns an element with `10^3` for a raised 3, which is no digit of the number before it. */
function withPowers(element: ElementNode): ElementNode {
  if (!findElement(element, ({ tag }) => tag === 'sup')) return element
  const children = element.children.map((child, at) => {
    if (!isElement(child)) return child
    const before = element.children[at - 1]
    const isPower = child.tag === 'sup' && before && !isElement(before) && /\d$/.test(before.text)
    return isPower && /^[-−–]?\d+$/.test(visibleText(child)) ? { text: `^${visibleText(child)}` } : withPowers(child)
  })
  return { ...element, children }
}

function valueOf(field: ElementNode): string {
  // Live pages have the values of all fields as attributes.
  const { value } = field.attributes
  if (field.tag === 'input' || value !== undefined) return value ?? ''
  if (field.tag === 'textarea') return rawText(field)
  const options = elementsOf(field).filter(({ tag }) => tag === 'option')
  const chosen = options.filter(({ attributes }) => attributes['selected'] !== undefined)
  const isSingle = field.attributes['multiple'] === undefined
  return (isSingle ? [chosen.at(-1) ?? options[0]] : chosen).map((option) => (option ? rawText(option) : '')).join(', ')
}

/** Returns the state of the toggle that a cell is or contains; '' without one. */
function stateOf(cell: ElementNode): string {
  const state = attribute(cell, 'aria-checked')
  const toggle = state === '' ? findElement(cell, isToggle) : undefined
  if (!toggle) return state
  return attribute(toggle, 'aria-checked') || String(toggle.attributes['checked'] !== undefined)
}

const iconTexts = (cell: ElementNode): string =>
  [...new Set(elementsOf(cell).map((element) => iconLabel(element) ?? ''))].filter(Boolean).join(' ')

/** Returns the alternative texts of the pictures in a cell, or their URLs. */
function pictureTexts(cell: ElementNode, baseUrl: string): string {
  const pictures = elementsOf(cell).filter(({ tag }) => tag === 'img')
  const texts = pictures.map((picture) => squeeze(attribute(picture, 'alt') || attribute(picture, 'title')))
  return texts
    .map((text, at) => text || (imageUrl(pictures[at]!, baseUrl) ?? ''))
    .filter(Boolean)
    .join(' ')
}
