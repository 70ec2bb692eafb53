/** Sets the text of a field, for `fill` and `fill_form`. */
import type { ElementHandle } from 'playwright'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { fillEditor, notKept } from '../editors/fill-editor.ts'
import { checkField } from './check-field.ts'
import { leave, mayBePicked, setPicker } from './form/set-picker.ts'
import { pressSlider } from './set-slider.ts'
import { type SetText, setText } from './set-text.ts'
import { focusForTyping, focusWhenReady } from './typing-target.ts'

/** Replaces the text of a field or editor. @throws BaxError `not_editable` for elements that do not take or keep this text. */
export async function fillField(
  context: CommandContext,
  target: { readonly selector: string; readonly timeout_ms?: number | undefined },
  text: string,
): Promise<void> {
  const { selector } = target
  await context.act(
    target,
    'editable',
    async (element, limit) => {
      const handle = await element.elementHandle(limit)
      await fillElement(context, { selector, handle: (await soleField(handle)) ?? handle }, text, limit)
    },
    {
      direct: async (element) => {
        const { fault, kind, isEditor, isNumber } = await element.evaluate(checkField, { value: text, textOnly: true })
        if (fault !== undefined || kind !== 'text' || isEditor || isNumber || mayBePicked(text))
          element.unclear(fault ?? 'not a plain text field')
        await assertKept(context, { selector, text }, await context.send(() => element.evaluate(setText, { text })))
      },
    },
  )
}

/** Returns the only field in a form item; null for other elements. */
async function soleField(handle: ElementHandle<Element>): Promise<ElementHandle<Element> | null> {
  const inner = await handle.evaluateHandle((node: Element) => {
    if (!node.matches('div, fieldset, td, li, p, span') || (node as HTMLElement).isContentEditable) return null
    const sliders = node.querySelectorAll('[role=slider], input[type=range]')
    // Dates made of sections keep their text in an input.
    const fields = sliders.length === 0 && node.matches('[role=group]') ? node.querySelectorAll('input') : sliders
    return fields.length === 1 ? fields[0] : null
  })
  return inner.asElement() as ElementHandle<Element> | null
}

interface Filling {
  readonly selector: string
  readonly handle: ElementHandle<Element>
  /** Whether the field is followed by others of its control, as in a range of dates. */
  readonly more?: boolean
}

/** Replaces the text of an element. */
export async function fillElement(
  context: CommandContext,
  { selector, handle, more = false }: Filling,
  text: string,
  limit: CallLimit,
): Promise<void> {
  const { send, poll } = context
  const { timeout: ms, signal } = limit
  const deadline = { ms, signal, error: 'the page did not answer in time' }
  const check = handle.evaluate(checkField, { value: text, textOnly: true })
  const { fault, waits, kind, isEditor, isNumber } = await withDeadline(check, deadline)
  if (kind === 'slider') return pressSlider(handle, selector, Number(text), { limit, send, poll })
  if (isEditor && fault === undefined) {
    const focused = (await handle.evaluate(focusForTyping)) ?? (await focusWhenReady(handle, limit))
    if (focused !== null) return fillEditor(context, handle, { selector, text })
  }
  if (fault !== undefined && !waits)
    throw new BaxError('not_editable', `${selector} ${fault}`, { details: { selector } })
  await handle.waitForElementState('visible', limit)
  await handle.waitForElementState('editable', limit)
  if (await send(() => withDeadline(setPicker(handle, { selector, text, more }, limit), deadline))) return
  const set = () => (isNumber ? setNumber(handle, text, limit) : handle.evaluate(setText, { text }))
  await assertKept(context, { selector, text }, await send(() => withDeadline(set(), deadline)))
}

/** Sets a number field of a library, and leaves it: some take only keys, and some change the number on `blur`. */
async function setNumber(handle: ElementHandle<Element>, text: string, limit: CallLimit): Promise<SetText> {
  if ('kept' in (await handle.evaluate(setText, { text }))) {
    await handle.selectText(limit)
    await (text === '' ? handle.press('Delete', limit) : handle.type(text, limit))
  }
  await handle.evaluate(leave)
  const set = await handle.evaluate(setText, { text, isSet: true })
  // Where a comma precedes the decimals, a point is none.
  const commaText = 'kept' in set && /\d,\d\d?(?!\d)/.test(set.kept) ? text.replace(/\.(?=\d+$)/, ',') : text
  if (commaText !== text) return setNumber(handle, commaText, limit)
  // The next key, such as Enter, is for this field.
  await handle.evaluate((node) => (node as HTMLElement).focus())
  return set
}

/** Time to find the field that has replaced another, in milliseconds. */
const replacedMs = 500

/** Runs in the page. */
const valueOf = (node: Node): string | null => (node as Partial<HTMLInputElement>).value ?? null

/** @throws BaxError `not_editable` if the page did not keep the text. */
async function assertKept(
  { locateAll }: CommandContext,
  { selector, text }: { readonly selector: string; readonly text: string },
  set: SetText,
): Promise<void> {
  if ('kept' in set) throw notKept(selector, set.kept)
  if ('isKept' in set || text === '') return
  // The page may also have left; then nothing can be checked. A page that formats the text may have had it before.
  const isReverted = (value: string | null) => value === set.replaced && value.toLowerCase() !== text.toLowerCase()
  const value = await locateAll(selector)
    .first()
    .evaluate(valueOf, undefined, { timeout: replacedMs })
    .catch(() => null)
  if (value === '' || isReverted(value)) throw notKept(selector, value ?? '')
}
