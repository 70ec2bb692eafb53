/** Runs in a page: sets the value of a text field at once. */

/**
 * Outcome of setting a value: `kept` is the text that the field has in its place, `replaced` the old text of a field
 * that the page has replaced.
 */
export type SetText = { readonly kept: string } | { readonly isKept: true } | { readonly replaced: string }

/**
 * Sets the value of a field, unless `isSet`; returns the value that the page has set in its place unless it shows the
 * same letters, digits and emoji, as with a mask, or the same number. Playwright fires no `change`.
 * Self-contained: only the text of the function reaches the page.
 */
export async function setText(
  node: Node,
  { text, isSet }: { readonly text: string; readonly isSet?: boolean },
): Promise<SetText> {
  const field = (node instanceof HTMLLabelElement && node.control ? node.control : node) as HTMLInputElement
  // Frameworks replace the property on single fields, to notice changes by scripts.
  const prototype = field instanceof HTMLInputElement ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype
  const before = isSet ? null : field.value
  if (!isSet) {
    field.focus()
    Object.getOwnPropertyDescriptor(prototype, 'value')!.set!.call(field, text)
    const data = { bubbles: true, composed: true, inputType: 'insertReplacementText', data: text }
    field.dispatchEvent(new InputEvent('input', data))
    // Many pages filter and check when a key is released. Chromium releases such a key when it fills in saved data.
    field.dispatchEvent(new KeyboardEvent('keyup', { key: 'Unidentified', bubbles: true, composed: true }))
  }
  // Pages restore a value that they did not accept right after the event, or in the next task. A page that clears the
  // field on `change` has accepted the text.
  await new Promise((resolve) => setTimeout(resolve))
  if (!field.isConnected) return { replaced: before ?? '' }
  const entered = field.value
  if (!isSet) field.dispatchEvent(new Event('change', { bubbles: true }))
  // Numbers out of range are replaced on `change`.
  const kept = field.type === 'number' && field.value !== '' ? field.value : entered
  const normalized = (value: string) => value.normalize('NFKC').toUpperCase()
  // A text without letters and digits is compared without its blanks only.
  const ignored = /[\p{L}\p{N}]/u.test(text) ? /[^\p{L}\p{N}\p{Extended_Pictographic}]/gu : /\s/g
  const significant = (value: string) => normalized(value).replaceAll(ignored, '')
  const isReverted = kept === before && significant(before) !== significant(text)
  // All characters in order: pages add separators, units and decimals.
  let found = 0
  const wanted = [...significant(text)]
  for (const character of significant(kept)) if (character === wanted[found]) found++
  // The sign and the point of a number are more than separators.
  const [, sign, whole, fraction] = /^\s*([-−]?)(\d{1,30})(?:[.,](\d{1,30}))?\s*$/.exec(text) ?? []
  const hasSign = !sign || /[-−(]/.test(kept)
  const isGrouped = text.includes(',') && fraction?.length === 3
  const hasPoint =
    !fraction || isGrouped || new RegExp(`${[...whole!].join('\\D*')}[.,٫·]\\s?${fraction[0]}`).test(kept)
  const isSameNumber = text.trim() !== '' && Number(kept) === Number(text)
  const hasAll = field.type === 'number' ? isSameNumber : !isReverted && found === wanted.length && hasSign && hasPoint
  return (hasAll || isSameNumber || text === '') && (kept === '') === (text === '') ? { isKept: true } : { kept }
}
