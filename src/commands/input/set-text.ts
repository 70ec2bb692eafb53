/** Runs in a page: sets the value of a text field at once. */

/** Outcome of setting a value: `kept` is the text that the field has in its place. */
export type SetText = { readonly kept: string } | { readonly isKept: true } | { readonly isReplaced: true }

/**
 * Sets the value of a field; returns the value that the page has set in its place unless it shows the same letters and
 * digits, as with a mask. Playwright fires no `change`.
 * Self-contained: only the text of the function reaches the page.
 */
export async function setText(node: Node, text: string): Promise<SetText> {
  const field = (node instanceof HTMLLabelElement && node.control ? node.control : node) as HTMLInputElement
  // Frameworks replace the property on single fields, to notice changes by scripts.
  const prototype = field instanceof HTMLInputElement ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype
  field.focus()
  const before = field.value
  Object.getOwnPropertyDescriptor(prototype, 'value')!.set!.call(field, text)
  const data = { bubbles: true, composed: true, inputType: 'insertReplacementText', data: text }
  field.dispatchEvent(new InputEvent('input', data))
  // Pages restore a value that they did not accept right after the event, or in the next task. A page that clears the
  // field on `change` has accepted the text.
  await new Promise((resolve) => setTimeout(resolve))
  if (!field.isConnected) return { isReplaced: true }
  const kept = field.value
  field.dispatchEvent(new Event('change', { bubbles: true }))
  const significant = (value: string) => value.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
  const isReverted = kept === before && significant(before) !== significant(text)
  // All characters in order: pages add separators, units and decimals.
  let found = 0
  const wanted = [...significant(text)]
  for (const character of significant(kept)) if (character === wanted[found]) found++
  const isKept = !isReverted && found === wanted.length && (kept === '') === (text === '')
  return isKept ? { isKept: true } : { kept }
}
