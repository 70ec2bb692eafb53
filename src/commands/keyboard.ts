/** Commands that type. */
import { z } from 'zod'
import { defineCommand } from '../core/command.ts'
import { BaxError } from '../core/errors.ts'
import { elementTimeout, selector } from './fields.ts'

/** Fields whose parts are typed one by one: their value is set as a whole. */
const composed = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'])

/** Characters between two looks at whether the command may go on. */
const typedAtOnce = 100

export const type_text = defineCommand({
  kind: 'action',
  summary: 'Type text into a field, key by key',
  example: "'#q' 'hello' --clear",
  data: z.object({
    selector,
    text: z
      .string()
      .max(1_000_000)
      .describe(
        'Text; a line break presses Enter. For a file field: absolute paths of the files to upload, one a line',
      ),
    clear: z.boolean().default(false).describe('Empty the field first; else the text is added at its end'),
    timeout_ms: elementTimeout,
  }),
  result: null,
  run: async ({ page, act, signal, upload }, { selector, text, clear, timeout_ms }) => {
    const done = await act(
      selector,
      async (element, limit) => {
        const handle = await element.elementHandle(limit)
        const type = await handle.evaluate((node) => (node instanceof HTMLInputElement ? node.type : node.nodeName))
        if (type === 'file') {
          await element.setInputFiles(text.split('\n').filter(Boolean).map(upload), limit)
          return true
        }
        if (composed.has(type)) {
          await element.fill(text, limit)
          return true
        }
        await handle.waitForElementState('visible', limit)
        await handle.waitForElementState('editable', limit)
        if (clear) await element.fill('', limit)
        await handle.evaluate(focusAtEnd)
        return false
      },
      { timeoutMs: timeout_ms, needs: 'editable' },
    )
    // Long texts take longer than an element may be waited for: the batch's time is their limit.
    if (done) return
    const characters = [...text]
    for (let at = 0; at < characters.length; at += typedAtOnce) {
      signal.throwIfAborted()
      await page.keyboard.type(characters.slice(at, at + typedAtOnce).join(''))
    }
  },
})

/** Runs in the page: a field that has the focus keeps its caret. */
function focusAtEnd(element: Node): void {
  const field = element as HTMLInputElement
  const root = field.getRootNode() as Document | ShadowRoot
  if (root.activeElement === field) return
  field.focus()
  if (field.isContentEditable) getSelection()?.selectAllChildren(field)
  if (field.isContentEditable) return getSelection()?.collapseToEnd()
  const { type } = field
  // Fields of other types have no caret that a script may set.
  if (field.localName === 'textarea' || ['text', 'search', 'tel', 'url', 'password'].includes(type))
    field.setSelectionRange(field.value.length, field.value.length)
}

export const clear = defineCommand({
  kind: 'action',
  summary: 'Empty a field',
  example: "'#q'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: null,
  run: async ({ act }, { selector, timeout_ms }) => {
    await act(selector, (element, limit) => element.clear(limit), { timeoutMs: timeout_ms, needs: 'editable' })
  },
})

/** Names that people use, and what Playwright calls the keys. */
const keyNames: Record<string, string> = {
  ctrl: 'Control', control: 'Control', cmd: 'Meta', command: 'Meta', meta: 'Meta', win: 'Meta', alt: 'Alt', option: 'Alt', shift: 'Shift',
  esc: 'Escape', escape: 'Escape', return: 'Enter', enter: 'Enter', tab: 'Tab', space: 'Space', del: 'Delete', delete: 'Delete',
  backspace: 'Backspace', insert: 'Insert', home: 'Home', end: 'End', pageup: 'PageUp', pagedown: 'PageDown',
  up: 'ArrowUp', down: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight',
  arrowup: 'ArrowUp', arrowdown: 'ArrowDown', arrowleft: 'ArrowLeft', arrowright: 'ArrowRight',
} // prettier-ignore

export const press_key = defineCommand({
  kind: 'action',
  summary: 'Press a key or a combination on an element',
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
  result: null,
  run: async ({ act }, { selector, key, timeout_ms }) => {
    // The last plus of `Control++` is the key itself.
    const parts = key.length > 1 ? key.split(/\+(?!$)/) : [key]
    const named = parts.map((part) => keyNames[part.toLowerCase()] ?? part).join('+')
    await act(selector, (element, limit) => pressed(element.press(named, limit), key), {
      timeoutMs: timeout_ms,
      needs: 'present',
    })
  },
})

async function pressed(work: Promise<void>, key: string): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Error && /Unknown key/.test(error.message))) throw error
    throw new BaxError('invalid_data', `there is no key ${JSON.stringify(key)}`, {
      hint: 'names are those of KeyboardEvent.key: Enter, Escape, ArrowDown, a, F1; combinations are joined with +',
      cause: error,
    })
  }
}
