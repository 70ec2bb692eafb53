/**
 * Selector for the fields beside a text that is their label for people only, as in the form items of component libraries
 * and in the rows of tables.
 */
import { squeeze } from '../../../core/text/pieces.ts'

const fields = [
  ...['input[not(@type="hidden")]', 'select', 'textarea', 'button'].map((name) => `self::${name}`),
  ...['slider', 'radio', 'checkbox', 'switch', 'combobox', 'button', 'textbox'].map((role) => `@role="${role}"`),
  '@contenteditable and not(@contenteditable="false")',
].join(' or ')

// The text that a list of options shows may have such a class, too.
const isShownValue = '@role="combobox" or @aria-haspopup'
const isLabel = `self::label or self::legend or contains(translate(@class,"L","l"),"label") and not(${isShownValue})`

const editable = '@contenteditable and not(@contenteditable="false")'
const isCheck = '@type="checkbox" or @type="radio" or @type="range"'
const takesValue = `self::input[not(@type="hidden" or ${isCheck})] or self::select or self::textarea or @role="combobox" or ${editable}`

/** Condition for an element with fields whose labels differ, where a label is not that of a single field inside. */
const hasSeveral = (() => {
  const isInner = `descendant::*[${fields} or ${isLabel}] or ancestor::label or ancestor::button or ancestor::*[@role="slider"]`
  const ofCheck = `@for=//input[${isCheck}]/@id`
  return `descendant::*[${takesValue}] and descendant::*[${isLabel}][normalize-space(.)!="" and not(${isInner} or ${ofCheck})][2]`
})()

/** Returns the XPath of the smallest element that contains a label with this text, and fields that have no label of their own. */
export function formItem(text: string): string {
  const quoted = quotedLabel(text)
  const item = `ancestor::*[position()<5][descendant::*[${fields}]][1][not(${hasSeveral})]`
  const named = `${shownText}=${quoted}`
  const fieldIds = '(//input|//select|//textarea|//button|//*[@role]|//*[@aria-labelledby])/@id'
  const label = [
    isLabel,
    named,
    `not(descendant::*[${fields}] or descendant::label or ancestor::label or ancestor::button)`,
    'not(ancestor-or-self::*[@aria-hidden="true" or @role="button" or @role="tab" or @role="option"])',
    // A field that has this label comes first.
    `not(//label[${named}][@for=${fieldIds} or descendant::*[${fields}]])`,
    `not(@id=//@aria-labelledby or //@aria-label=${quoted})`,
  ]
  return `xpath=//*${label.map((condition) => `[${condition}]`).join('')}/${item}`
}

/** Returns the XPath of the elements with a role that a label refers to: browsers connect it with native fields only. */
export const labelledByFor = (text: string): string =>
  `xpath=//*[@role][@id=//label[${shownText}=${quotedLabel(text)}]/@for]`

/** Returns the XPath of the only field in a row of a table whose first cell has this text. */
export function rowField(text: string): string {
  const cell = `[self::th or self::td][not(preceding-sibling::*)][${shownText}=${quotedLabel(text)}]`
  const field = `descendant::*[${takesValue} or self::input[${isCheck}]]`
  return `xpath=//*${cell}[not(${field} or descendant-or-self::*[${isLabel}])]/parent::tr[count(${field})=1]/${field}`
}

const shownText = 'normalize-space(translate(.,":*",""))'
const quotedLabel = (text: string): string => literal(squeeze(text.replaceAll(/[:*]/g, '')))

/** Quotes a text for XPath, which has no escapes. */
const literal = (text: string): string =>
  text.includes('"')
    ? `concat(${text
        .split('"')
        .map((part) => `"${part}"`)
        .join(`,'"',`)})`
    : `"${text}"`
