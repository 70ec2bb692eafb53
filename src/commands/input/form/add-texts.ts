/** Runs in a page: adds texts to a field that keeps a list of them, such as tags. */

/**
 * Enters each text as the Enter key does; returns the first one that the field did not take. Self-contained: only the
 * text of the function reaches the page.
 */
export async function addTexts(node: Node, texts: readonly string[]): Promise<string | null> {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (!(field instanceof HTMLInputElement)) return texts[0] ?? null
  const pause = () =>
    new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))
  const write = (text: string) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, text)
    field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertText', data: text }))
  }
  const shown = () => {
    let around: HTMLElement = field
    for (let level = 0; level < 4 && around.parentElement && around.parentElement.offsetHeight < 300; level += 1)
      around = around.parentElement
    return around.innerText
  }
  field.focus()
  for (const text of texts) {
    const before = shown()
    write(text)
    await pause()
    const enter = {
      key: 'Enter',
      code: 'Enter',
      keyCode: 13,
      which: 13,
      bubbles: true,
      cancelable: true,
      composed: true,
    }
    // Handlers of the page receive them; the form is not submitted by an event of a script.
    for (const type of ['keydown', 'keypress', 'keyup']) field.dispatchEvent(new KeyboardEvent(type, enter))
    for (let frames = 0; frames < 20 && (field.value !== '' || shown() === before); frames += 1) await pause()
    if (field.value === '' && shown() !== before && shown().includes(text)) continue
    if (field.isConnected) write('')
    return text
  }
  // A page can show a text without adding it, as in `Press Enter to add Fig`.
  await pause()
  return texts.find((text) => !shown().includes(text)) ?? null
}
