/** Pseudo-classes of selectors that a parsed page can decide. */
import { type ElementNode, hasText, isElement, visibleText } from '../../../extract/tree.ts'

/** An element and its position among its siblings, from 1. */
export interface Place {
  readonly element: ElementNode
  readonly isRoot: boolean
  readonly index: number
  readonly count: number
  /** The same among the siblings with its tag. */
  readonly typeIndex: number
  readonly typeCount: number
}

type Test = (place: Place) => boolean

const has = (...names: string[]): Test =>
  names.length === 1
    ? ({ element }) => element.attributes[names[0]!] !== undefined
    : ({ element }) => names.some((name) => element.attributes[name] !== undefined)
const isControl: Test = ({ element }) => /^(?:button|input|select|textarea|option|optgroup|fieldset)$/.test(element.tag)
const isDisabled = has('disabled')
const isRequired = has('required')
const isLink: Test = ({ element }) => /^(?:a|area)$/.test(element.tag) && element.attributes['href'] !== undefined

export const plainTests: Readonly<Record<string, Test>> = {
  root: ({ isRoot }) => isRoot,
  scope: ({ isRoot }) => isRoot,
  empty: ({ element }) => element.children.every((child) => !isElement(child) && child.text === ''),
  blank: ({ element }) => !hasText(element),
  link: isLink,
  'any-link': isLink,
  checked: has('checked', 'selected'),
  disabled: (place) => isControl(place) && isDisabled(place),
  enabled: (place) => isControl(place) && !isDisabled(place),
  required: isRequired,
  optional: (place) => isControl(place) && !isRequired(place),
  'first-child': ({ index }) => index === 1,
  'last-child': ({ index, count }) => index === count,
  'only-child': ({ count }) => count === 1,
  'first-of-type': ({ typeIndex }) => typeIndex === 1,
  'last-of-type': ({ typeIndex, typeCount }) => typeIndex === typeCount,
  'only-of-type': ({ typeCount }) => typeCount === 1,
}

const positions: Readonly<Record<string, (place: Place) => number>> = {
  'nth-child': ({ index }) => index,
  'nth-last-child': ({ index, count }) => count - index + 1,
  'nth-of-type': ({ typeIndex }) => typeIndex,
  'nth-last-of-type': ({ typeIndex, typeCount }) => typeCount - typeIndex + 1,
}

/** Returns the test of a pseudo-class with a text as its argument; undefined if it is unknown. */
export function testWithText(name: string, text: string): Test | undefined {
  if (name === 'contains') return containing(text)
  const position = positions[name]
  const formula = position && readFormula(text)
  return position && formula && ((place) => formula(position(place)))
}

/** Maximum length of the text in which `:contains` searches, because nested elements are read repeatedly. */
const maxText = 5000

const containing = (text: string): Test => {
  const words = text.replace(/^(["'])(.*)\1$/s, '$2')
  return ({ element }) => visibleText(element, maxText).includes(words)
}

/** Reads `odd`, `even`, `3` or `2n+1`. */
function readFormula(text: string): ((position: number) => boolean) | undefined {
  const plain = text.replaceAll(/\s+/g, '').toLowerCase()
  if (plain === 'odd') return (position) => position % 2 === 1
  if (plain === 'even') return (position) => position % 2 === 0
  const parts = /^(?:([+-]?\d*)n)?([+-]?\d+)?$/.exec(plain)
  if (!parts || plain === '') return undefined
  const [, factor, offset = '0'] = parts
  const step = factor === undefined ? 0 : /\d/.test(factor) ? Number(factor) : Number(`${factor}1`)
  const start = Number(offset)
  return (position) =>
    step === 0 ? position === start : (position - start) % step === 0 && (position - start) / step >= 0
}
