/** Sets the text of a field, for `fill` and `fill_form`. */
import type { CommandContext } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { checkField } from './check-field.ts'
import { fillEditor, notKept } from '../editors/fill-editor.ts'
import { pressSlider } from './set-slider.ts'
import { type SetText, setText } from './set-text.ts'
import { focusForTyping, focusWhenReady } from './typing-target.ts'

/** Replaces the text of a field or editor. @throws BaxError `not_editable` for elements that do not take or keep this text. */
export async function fillField(
  context: CommandContext,
  target: { readonly selector: string; readonly timeout_ms?: number | undefined },
  text: string,
): Promise<void> {
  const { act, send, poll } = context
  await act(
    target,
    'editable',
    async (element, limit) => {
      const handle = await element.elementHandle(limit)
      const { timeout: ms, signal } = limit
      const deadline = { ms, signal, error: 'the page did not answer in time' }
      const check = handle.evaluate(checkField, { value: text, textOnly: true })
      const { fault, waits, kind, isEditor } = await withDeadline(check, deadline)
      if (kind === 'slider') return pressSlider(handle, target.selector, Number(text), { limit, send, poll })
      if (isEditor && fault === undefined) {
        const focused = (await handle.evaluate(focusForTyping)) ?? (await focusWhenReady(handle, limit))
        if (focused !== null) return fillEditor(context, handle, { ...target, text })
      }
      if (fault !== undefined && !waits) {
        const { selector } = target
        throw new BaxError('not_editable', `${selector} ${fault}`, { details: { selector } })
      }
      await handle.waitForElementState('visible', limit)
      await handle.waitForElementState('editable', limit)
      verifySet(await send(() => withDeadline(handle.evaluate(setText, text), deadline)), target.selector)
    },
    {
      direct: async (element) => {
        const { fault, kind, isEditor } = await element.evaluate(checkField, { value: text, textOnly: true })
        if (fault !== undefined || kind !== 'text' || isEditor) element.unclear(fault ?? 'not a text field')
        verifySet(await send(() => element.evaluate(setText, text)), target.selector)
      },
    },
  )
}

/** @throws BaxError `not_editable` when a page has not kept the text of a field. */
function verifySet(set: SetText, selector: string): void {
  if ('kept' in set) throw notKept(selector, set.kept)
}
