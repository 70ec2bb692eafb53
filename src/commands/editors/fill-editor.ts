/** Replaces the text of an editor with keys and a paste, as a person does, and reads it back. */
import type { ElementHandle, Keyboard } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CommandContext } from '../../core/operation/command.ts'
import { type EditorText, readEditor } from './editor-text.ts'

/** Time for an editor to show its new text, in milliseconds. */
const shownMs = 2000

/**
 * Replaces the text of the editor that has the focus. @throws BaxError `not_editable` when it has another text afterwards.
 */
export async function fillEditor(
  context: CommandContext,
  handle: ElementHandle,
  { selector, text }: { readonly selector: string; readonly text: string },
): Promise<void> {
  const { keyboard } = context.page
  const read = () => readBack(handle, keyboard)
  const isKept = async () => (await context.poll(async () => ({ met: isSame(await read(), text) }), shownMs)).met
  await clearEditor(context, handle, selector)
  if (text === '') return
  // Editors split pasted text into lines, where keys would be completed, indented and paired.
  const isPasted = await context.send(async () => text.includes('\n') && (await handle.evaluate(pasteText, text)))
  if (isPasted && (await isKept())) return
  if (isPasted) await clearEditor(context, handle, selector)
  await context.send(() => keyboard.insertText(text))
  if (await isKept()) return
  throw notKept(selector, (await read())?.text ?? '')
}

/**
 * Removes the text of the editor that has the focus, with its own keys: they select also what is not drawn. Repeats them
 * for editors that notice a selection late. @throws BaxError `not_editable` when a text remains.
 */
export async function clearEditor(
  { page: { keyboard }, send, poll }: CommandContext,
  handle: ElementHandle,
  selector: string,
): Promise<void> {
  const cleared = await poll(async () => {
    await send(async () => {
      await keyboard.press('ControlOrMeta+A')
      await keyboard.press('Delete')
    })
    const left = (await readEditor((work) => handle.evaluate(work)))?.text.trim() ?? ''
    return { met: left === '', left }
  }, shownMs)
  if (!cleared.met) throw notKept(selector, 'left' in cleared ? cleared.left : '')
}

/** Builds the error for a field that has another text than the one that was set. */
export function notKept(selector: string, kept: string): BaxError {
  const shown =
    kept.trim() === ''
      ? 'is empty again: the page has removed the text'
      : `has another text, ${JSON.stringify(kept.slice(0, 100))}: the page has changed it`
  return new BaxError('not_editable', `${selector} ${shown}`, {
    hint: 'use type_text, if the page reacts to keys',
    details: { selector, delivered: true },
  })
}

/** Reads the text of an editor; of one that draws only a part of it, as it would be copied. */
async function readBack(handle: ElementHandle, keyboard: Keyboard): Promise<EditorText | null> {
  const found = await readEditor((work) => handle.evaluate(work))
  if (found?.isWhole) return found
  await keyboard.press('ControlOrMeta+A')
  const copied = await handle.evaluate(copiedText)
  // Later keys would replace what is selected.
  await keyboard.press('ArrowRight')
  return copied === null ? found : { text: copied, isWhole: true, isExact: true }
}

/** Compares texts without what editors decide: how they mark empty lines and the ends of lines. */
function isSame(kept: EditorText | null, text: string): boolean {
  const comparable = (lines: string) =>
    lines
      .replaceAll('\u00A0', ' ')
      .replaceAll(/[\u200B\uFEFF]/g, '')
      .split(/\r?\n/)
      .map((line) => (kept?.isExact ? line.trimEnd() : line.replaceAll(/\s+/g, ' ').trim()))
      .filter(Boolean)
      .join('\n')
  return comparable(kept?.text ?? '') === comparable(text)
}

/**
 * Runs in the page: pastes lines into the focused editor; returns whether they were taken. Typed text takes quadratic
 * time for many lines.
 */
function pasteText(node: Node, text: string): boolean {
  const editor = (node.getRootNode() as Document | ShadowRoot).activeElement as HTMLElement | null
  const pasted = new DataTransfer()
  pasted.setData('text/plain', text)
  const paste = new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true, cancelable: true, composed: true })
  // Editors insert pasted text themselves.
  if (!editor?.dispatchEvent(paste)) return editor !== null
  if (!editor.isContentEditable) return false
  const lines = text.split('\n').map((line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  const isPlain = getComputedStyle(editor).whiteSpace.startsWith('pre') || editor.contentEditable === 'plaintext-only'
  const html = isPlain ? lines.join('\n') : lines.map((line) => `<div>${line || '<br>'}</div>`).join('')
  return document.execCommand('insertHTML', false, html)
}

/** Runs in the page: returns what the focused editor would copy, without using the clipboard. */
function copiedText(node: Node): string | null {
  const copied = new DataTransfer()
  const { activeElement } = node.getRootNode() as Document | ShadowRoot
  const copy = new ClipboardEvent('copy', { clipboardData: copied, bubbles: true, cancelable: true, composed: true })
  if (!activeElement) return null
  if (!activeElement.dispatchEvent(copy)) return copied.getData('text/plain')
  // Some editors put the text into their field for keys instead.
  const { value = '', selectionStart, selectionEnd } = activeElement as Partial<HTMLTextAreaElement>
  return value.slice(selectionStart ?? 0, selectionEnd ?? 0) || null
}
