/** Runs in a page: replaces the text of a field or editor at once. */

/**
 * Sets a text that the field takes: `emptied` when the page removes it at once, `reverted` when it restores the old one,
 * `replaced` when it replaces the field. Returns `type` for an editor that should receive it as typed text.
 * Playwright inserts text as if it was typed, which takes quadratic time for many lines, and fires no `change`.
 * Self-contained: only the text of the function reaches the page.
 */
export async function setText(node: Node, text: string): Promise<'set' | 'emptied' | 'reverted' | 'replaced' | 'type'> {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
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
    if (!field.isConnected) return 'replaced'
    const isEmptied = text !== '' && field.value === ''
    // A page that formats texts may give this one the format of the old one.
    const plain = (value: string) => value.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
    const isReverted = field.value === before && plain(before) !== plain(text)
    field.dispatchEvent(new Event('change', { bubbles: true }))
    return isEmptied ? 'emptied' : isReverted ? 'reverted' : 'set'
  }
  const lines = text.split('\n')
  if (lines.length <= 20) return 'type'
  const editor = field as HTMLElement
  editor.focus()
  // Editors notice the selection with this event, which is not fired when it does not change.
  const noticed = new Promise((resolve) => {
    document.addEventListener('selectionchange', () => setTimeout(resolve), { once: true })
    setTimeout(resolve, 50)
  })
  getSelection()?.selectAllChildren(editor)
  await noticed
  const pasted = new DataTransfer()
  pasted.setData('text/plain', text)
  const paste = new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true, composed: true })
  // Editors insert pasted text themselves.
  if (!editor.dispatchEvent(paste)) return 'set'
  const escaped = lines.map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  const isPlain = getComputedStyle(editor).whiteSpace.startsWith('pre') || editor.contentEditable === 'plaintext-only'
  const html = isPlain ? escaped.join('\n') : escaped.map((line) => `<div>${line || '<br>'}</div>`).join('')
  return document.execCommand('insertHTML', false, html) ? 'set' : 'type'
}
