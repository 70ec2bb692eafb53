/** Sets the text of a field, for `fill` and `fill_form`. */
import type { ElementHandle, Locator } from 'playwright'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { checkField } from './check-field.ts'
import { mayBePicked, setPicker } from './form/set-picker.ts'
import { pressSlider } from './set-slider.ts'
import { setText } from './set-text.ts'

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
      const inner = await soleField(handle)
      await fillElement(context, { selector, element: inner ?? element, handle: inner ?? handle }, text, limit)
    },
    {
      direct: async (element) => {
        const { fault, kind } = await element.evaluate(checkField, { value: text, textOnly: true })
        if (fault !== undefined || kind !== 'text' || mayBePicked(text))
          element.unclear(fault ?? 'not a plain text field')
        const outcome = await context.send(() => element.evaluate(setText, text))
        if (outcome === 'emptied') throw emptied(selector)
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
  readonly element: Pick<Locator, 'fill'>
  readonly handle: ElementHandle<Element>
  /** Whether the field is followed by others of its control, as in a range of dates. */
  readonly more?: boolean
}

/** Replaces the text of an element, of which `handle` is one. */
export async function fillElement(
  { send, poll }: CommandContext,
  { selector, element, handle, more = false }: Filling,
  text: string,
  limit: CallLimit,
): Promise<void> {
  const { timeout: ms, signal } = limit
  const deadline = { ms, signal, error: 'the page did not answer in time' }
  const check = handle.evaluate(checkField, { value: text, textOnly: true })
  const { fault, waits, kind } = await withDeadline(check, deadline)
  if (kind === 'slider') return pressSlider(handle, selector, Number(text), { limit, send, poll })
  if (fault !== undefined && !waits)
    throw new BaxError('not_editable', `${selector} ${fault}`, { details: { selector } })
  await handle.waitForElementState('visible', limit)
  await handle.waitForElementState('editable', limit)
  if (await send(() => withDeadline(setPicker(handle, { selector, text, more }, limit), deadline))) return
  const outcome = await send(() => withDeadline(handle.evaluate(setText, text), deadline))
  if (outcome === 'emptied') throw emptied(selector)
  if (outcome !== 'type') return
  await element.fill(text, limit)
  // An editor that hides its text does not have it in the element.
  if (await handle.evaluate(isEmptied, text)) throw emptied(selector)
}

/** Runs in the page: returns whether an editable element without inner structure has lost its text. */
const isEmptied = (node: Node, text: string): boolean =>
  text.trim() !== '' && node.isConnected && node.textContent === '' && !(node as Element).querySelector('*')

const emptied = (selector: string): BaxError =>
  new BaxError('not_editable', `${selector} is empty again: the page has removed the text`, {
    hint: 'use type_text, if the page reacts to keys',
    details: { selector, delivered: true },
  })
