/** Selector for the fields beside a text that is their label for people only, as in the form items of component libraries. */

const fields = [
  ...['input[not(@type="hidden")]', 'select', 'textarea', 'button'].map((name) => `self::${name}`),
  ...['slider', 'radio', 'checkbox', 'switch', 'combobox', 'button'].map((role) => `@role="${role}"`),
].join(' or ')

/** Returns the XPath of the smallest element that contains a label with this text, and fields that have no label of their own. */
export function formItem(text: string): string {
  const quoted = literal(text.replaceAll(/[:*]/g, '').replaceAll(/\s+/g, ' ').trim())
  const item = `ancestor::*[position()<5][descendant::*[${fields}]][1]`
  const named = `normalize-space(translate(.,":*",""))=${quoted}`
  const fieldIds = '(//input|//select|//textarea|//button|//*[@aria-labelledby])/@id'
  const label = [
    'self::label or self::legend or contains(translate(@class,"L","l"),"label")',
    named,
    `not(descendant::*[${fields}] or descendant::label or ancestor::label or ancestor::button)`,
    'not(ancestor-or-self::*[@aria-hidden="true" or @role="button" or @role="tab" or @role="option"])',
    // A field that has this label comes first.
    `not(//label[${named}][@for=${fieldIds} or descendant::*[${fields}]])`,
    `not(@id=//@aria-labelledby or //@aria-label=${quoted})`,
  ]
  return `xpath=//*${label.map((condition) => `[${condition}]`).join('')}/${item}`
}

/** Quotes a text for XPath, which has no escapes. */
const literal = (text: string): string =>
  text.includes('"') ? `concat(${text.split('"').map((part) => `"${part}"`).join(`,'"',`)})` : `"${text}"` // prettier-ignore
