/** Commands that type. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { flag } from '../core/shapes/fields.ts'
import { type CallLimit, type CommandContext, defineCommand } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { withDeadline } from '../core/process/deadline.ts'
import { elementTimeout, selector } from './fields.ts'
import { clearEditor } from './editors/fill-editor.ts'
import { fillField } from './input/fill-field.ts'
import { key, keyName, pressed, submits } from './input/key-names.ts'
import { directField, playwrightField, type Settled, type TypedField } from './input/type-keys.ts'
import { composed, typeComposed } from './input/type-parts.ts'
import { focusForTyping, focusWhenReady } from './input/typing-target.ts'
import { limits } from '../core/limits/limits.ts'

export * from './input/fill.ts'
export * from './input/keys.ts'

/** Text typed between two checks that the field still exists; Enter may submit the form. */
const pieces = /[^\n]{1,20}\n?|\n/gu

/** Time for a page to answer after the last key, in milliseconds. */
const settledMs = 500

export const type_text = defineCommand({
  kind: 'action',
  summary: 'Type text into a field, key by key',
  also: ['type'],
  example: ["'#q' tea", "'#q' 'green tea' --clear", "'input[type=file]' /tmp/photo.png"],
  data: z.object({
    selector,
    text: z
      .string()
      .max(limits.input.typedChars)
      .describe(
        'Text; a line break presses Enter. For a file input: names of files of the session, or absolute paths, one per line',
      ),
    clear: flag('Clear the field first; otherwise the text is appended'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'text' },
  maySubmit: ({ text }) => String(text).includes('\n'),
  result: null,
  run: async (context, { text, clear, ...target }) => {
    const { act, send, upload } = context
    const field = await act(
      target,
      'editable',
      async (element, limit) => {
        const handle = await element.elementHandle(limit)
        const type = await handle.evaluate((node) => (node instanceof HTMLInputElement ? node.type : node.nodeName))
        if (type === 'file') {
          const { paths } = upload(text.split('\n').filter(Boolean))
          await send(() => element.setInputFiles([...paths], limit))
          return null
        }
        if (composed.has(type)) {
          await typeComposed(context, handle, { selector: target.selector, text, type }, limit)
          return null
        }
        const kind = (await handle.evaluate(focusForTyping)) ?? (await focusWhenReady(handle, limit))
        if (clear && kind === 'field') await send(() => element.fill('', limit))
        // A key, since editors keep their content outside of the element.
        else if (clear) await clearEditor(context, handle, target.selector)
        return playwrightField(context, handle, kind)
      },
      { direct: (element) => directField(context, element, clear) },
    )
    // Long texts take longer than the element timeout; they are limited by the timeout of the batch.
    if (field) await typeInto(context, field, { text, clear, ...target })
  },
})

/** @throws BaxError `element_detached` when the field is removed before all characters have reached it. */
async function typeInto(
  { signal, send, receivedChars }: CommandContext,
  field: TypedField,
  { selector, text, clear }: { readonly selector: string; readonly text: string; readonly clear: boolean | undefined },
): Promise<void> {
  const count = [...text].length
  let typed = 0
  for (const piece of text.match(pieces) ?? []) {
    signal.throwIfAborted()
    await send(() => field.type(piece))
    typed += [...piece].length
    const state = await field.state()
    if (state === 'there') continue
    // The last characters may have submitted the form.
    if (state === 'navigated' && typed === count) return
    const arrived = state === 'gone' ? await receivedChars() : null
    if (arrived === null || arrived < count) throw halfTyped(selector, arrived, count)
  }
  // The page may have left since then, or shows a dialog; then nothing can be checked.
  const settled = await withDeadline(field.settled(), { ms: settledMs, signal }).catch(() => undefined)
  if (settled) checkTyped(settled, { selector, text, clear })
}

/** @throws BaxError `not_editable` when a field has not kept what was typed. */
function checkTyped(
  { before, value, most }: Settled,
  { selector, text, clear }: { readonly selector: string; readonly text: string; readonly clear: boolean | undefined },
): void {
  const fail = (why: string) =>
    new BaxError('not_editable', `${selector} ${why}`, { details: { selector, delivered: true } })
  // A line break submits an entry.
  if (
    most !== null &&
    !text.includes('\n') &&
    !value.includes(text) &&
    text.length > most - (clear ? 0 : before.length)
  )
    throw fail(`takes at most ${most} characters, and has only kept the first ones`)
  // Separators can make an entry of a list of the text.
  const isPlain = /^[\p{L}\p{N}]+$/u.test(text)
  if (!isPlain || value !== before || (clear && before.toLowerCase() === text.toLowerCase())) return
  throw fail('has its old value: the page has not kept the text')
}

function halfTyped(selector: string, typed: number | null, characters: number): BaxError {
  const details = { selector, characters, ...(typed !== null && { typed }) }
  const count =
    typed === null ? `while ${characters} characters were typed` : `after ${typed} of ${characters} characters`
  return new BaxError('element_detached', `${selector} was removed from the page ${count}`, { details })
}

export const clear = defineCommand({
  kind: 'action',
  summary: 'Clear a field',
  example: "'#q'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'text', noun: 'clearing' },
  result: null,
  run: (context, target) => fillField(context, target, ''),
})

export const press_key = defineCommand({
  kind: 'action',
  summary: 'Press a key or combination',
  also: ['press'],
  positional: [['selector', 'key']],
  example: ['Enter', "'#q' Control+A"],
  data: z.object({
    selector: selector.optional().describe('Element to focus first; the focused element when omitted'),
    key: key.describe(
      'A character, a key such as Enter, Tab, Escape, ArrowDown, F5, or a combination such as Control+A',
    ),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'key press' },
  maySubmit: ({ key }) => submits(String(key)),
  result: null,
  run: ({ page, act, send, signal, warn }, { key, selector, timeout_ms }) => {
    const { keyboard } = page
    if (selector !== undefined) {
      const target = { selector, timeout_ms }
      const check = (isFocused: boolean) => {
        if (!isFocused) warn(`${selector} cannot be focused, so the key went to the element that has the focus`)
      }
      const pressOn = async (element: Locator, limit: CallLimit) => {
        // An editor for code is not focusable itself; its key would go elsewhere.
        const isInside = await element.evaluate(isAroundEditor, undefined, { timeout: limit.timeout })
        const isFocused = isInside || (await element.evaluate(focusNode, undefined, { timeout: limit.timeout }))
        if (!isInside || (await element.evaluate(focusForTyping)) === null)
          return pressed(element.press(keyName(key), limit), key, keyboard).then(() => check(isFocused))
        return send(() => pressed(keyboard.press(keyName(key)), key, keyboard))
      }
      return act(target, 'present', pressOn, {
        direct: async (element) => {
          const [isInside] = await element.evaluateEach([isAroundEditor])
          if (isInside) element.unclear('an editor takes the key')
          const isFocused = await element.evaluate(focusNode, undefined)
          await element.press(() => pressed(keyboard.press(keyName(key)), key, keyboard))
          check(isFocused)
        },
      })
    }
    const deadline = { ms: timeout_ms ?? limits.command.elementMs, signal }
    return send(() => withDeadline(pressed(keyboard.press(keyName(key)), key, keyboard), deadline))
  },
})

/** Runs in the page: returns whether an element is not focusable, and an editor inside takes its keys. */
const isAroundEditor = (node: Element): boolean =>
  (node as HTMLElement).tabIndex < 0 &&
  !(node as HTMLElement).isContentEditable &&
  node.matches('.CodeMirror, .monaco-editor, :has(> .CodeMirror, > .monaco-editor, > [contenteditable])')

/** Runs in the page: focuses an element as Playwright does before a key; returns whether it, or a part of it, has the focus. */
function focusNode(node: Element): boolean {
  const field = node as HTMLInputElement
  const { activeElement } = node.getRootNode() as Document
  const wasFocused = activeElement === node && node.ownerDocument.hasFocus()
  if (field.isContentEditable && !wasFocused) (activeElement as HTMLElement | null)?.blur()
  field.focus()
  field.focus()
  const hasCaret = ['text', 'search', 'tel', 'url', 'password'].includes(field.type)
  if (!wasFocused && node instanceof HTMLInputElement && hasCaret) field.setSelectionRange(0, 0)
  const { activeElement: now } = node.getRootNode() as Document
  // Keys without a focused element go to the body.
  return now === node || node.contains(now)
}
