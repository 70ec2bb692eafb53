/** Commands that type. */
import type { ElementHandle } from 'playwright'
import { z } from 'zod'
import { flag } from '../core/shapes/fields.ts'
import { type CommandContext, defineCommand } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { elementTimeout, selector } from './fields.ts'
import { limits } from '../core/limits/limits.ts'

/** Input types whose parts are typed one by one; their value is set as a whole. */
const composed = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'])

/** Text typed between two checks that the field still exists; Enter may submit the form. */
const pieces = /[^\n]{1,20}\n?|\n/gu

export const type_text = defineCommand({
  kind: 'action',
  summary: 'Type text into a field, key by key',
  also: ['type'],
  example: "'#q' 'hello' --clear",
  data: z.object({
    selector,
    text: z
      .string()
      .max(limits.input.typedChars)
      .describe(
        'Text; a line break presses Enter. For a file input: absolute paths of the files to upload, one per line',
      ),
    clear: flag('Clear the field first; otherwise the text is appended'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'text' },
  result: null,
  run: async (context, { text, clear, ...target }) => {
    const { act, send, upload } = context
    const field = await act(target, 'editable', async (element, limit) => {
      const handle = await element.elementHandle(limit)
      const type = await handle.evaluate((node) => (node instanceof HTMLInputElement ? node.type : node.nodeName))
      if (type === 'file') {
        const files = text.split('\n').filter(Boolean).map(upload)
        await send(() => element.setInputFiles(files, limit))
        return null
      }
      if (composed.has(type)) {
        await element.fill(text, limit)
        return null
      }
      await handle.waitForElementState('visible', limit)
      await handle.waitForElementState('editable', limit)
      if (clear) await send(() => element.fill('', limit))
      await handle.evaluate(focusAtEnd)
      return handle
    })
    // Long texts take longer than the element timeout; they are limited by the timeout of the batch.
    if (field) await typeInto(context, field, target.selector, text)
  },
})

/** @throws BaxError `element_detached` when the field is removed before all characters have reached it. */
async function typeInto(
  { page, signal, send, receivedChars }: CommandContext,
  field: ElementHandle,
  selector: string,
  text: string,
): Promise<void> {
  const count = [...text].length
  let typed = 0
  for (const piece of text.match(pieces) ?? []) {
    signal.throwIfAborted()
    await send(() => page.keyboard.type(piece))
    typed += [...piece].length
    const state = await stateOf(field)
    if (state === 'there') continue
    // The last characters may have submitted the form.
    if (state === 'navigated' && typed === count) return
    const arrived = state === 'gone' ? await receivedChars() : null
    if (arrived === null || arrived < count) throw halfTyped(selector, arrived, count)
  }
}

/** Returns whether a field, or another one focused in its place, can still receive keys. */
async function stateOf(field: ElementHandle): Promise<'there' | 'gone' | 'navigated'> {
  try {
    const isThere = await field.evaluate((node) => {
      const { activeElement, body } = node.ownerDocument ?? document
      return node.isConnected || (activeElement !== null && activeElement !== body)
    })
    return isThere ? 'there' : 'gone'
  } catch {
    // The document or the page is gone; the next key press fails by itself.
    return 'navigated'
  }
}

function halfTyped(selector: string, typed: number | null, characters: number): BaxError {
  const details = { selector, characters, ...(typed !== null && { typed }) }
  const count =
    typed === null ? `while ${characters} characters were typed` : `after ${typed} of ${characters} characters`
  return new BaxError('element_detached', `${selector} was removed from the page ${count}`, { details })
}

/** Runs in the page: moves the caret to the end, unless the field already has the focus. */
function focusAtEnd(element: Node): void {
  const field = element as HTMLInputElement
  const root = field.getRootNode() as Document | ShadowRoot
  if (root.activeElement === field) return
  field.focus()
  if (field.isContentEditable) getSelection()?.selectAllChildren(field)
  if (field.isContentEditable) return getSelection()?.collapseToEnd()
  const { type } = field
  // Other input types do not allow scripts to set the caret.
  if (field.localName === 'textarea' || ['text', 'search', 'tel', 'url', 'password'].includes(type))
    field.setSelectionRange(field.value.length, field.value.length)
}

export const clear = defineCommand({
  kind: 'action',
  summary: 'Clear a field',
  example: "'#q'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'text', noun: 'clearing' },
  result: null,
  run: ({ act }, target) => act(target, 'editable', (element, limit) => element.clear(limit)),
})

/** Common key names, mapped to Playwright's. */
const keyNames: Record<string, string> = {
  ctrl: 'Control', control: 'Control', cmd: 'Meta', command: 'Meta', meta: 'Meta', win: 'Meta', alt: 'Alt', option: 'Alt', shift: 'Shift',
  esc: 'Escape', escape: 'Escape', return: 'Enter', enter: 'Enter', tab: 'Tab', space: 'Space', del: 'Delete', delete: 'Delete',
  backspace: 'Backspace', insert: 'Insert', home: 'Home', end: 'End', pageup: 'PageUp', pagedown: 'PageDown',
  up: 'ArrowUp', down: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight',
  arrowup: 'ArrowUp', arrowdown: 'ArrowDown', arrowleft: 'ArrowLeft', arrowright: 'ArrowRight',
} // prettier-ignore

export const press_key = defineCommand({
  kind: 'action',
  summary: 'Press a key or combination on an element',
  also: ['press'],
  example: "'#q' Control+A",
  data: z.object({
    selector,
    key: z
      .string()
      .min(1)
      .max(100)
      .describe('A character, a key such as Enter, Tab, Escape, ArrowDown, F5, or a combination such as Control+A'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'key press' },
  result: null,
  run: ({ act }, { key, ...target }) => {
    // The last plus of `Control++` is the key itself.
    const parts = key.length > 1 ? key.split(/\+(?!$)/) : [key]
    const named = parts.map((part) => keyNames[part.toLowerCase()] ?? part).join('+')
    return act(target, 'present', (element, limit) => pressed(element.press(named, limit), key))
  },
})

async function pressed(work: Promise<void>, key: string): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Error && /Unknown key/.test(error.message))) throw error
    throw new BaxError('invalid_data', `unknown key ${JSON.stringify(key)}`, {
      hint: 'use a name of KeyboardEvent.key (Enter, Escape, ArrowDown, a, F1), and join combinations with +',
      cause: error,
    })
  }
}
