/** Sets the text of a field, for `fill` and `fill_form`. */
import type { CommandContext } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { checkField } from './check-field.ts'
import { pressSlider } from './set-slider.ts'
import { setText } from './set-text.ts'

/** Replaces the text of a field or editor. @throws BaxError `not_editable` for elements that do not take or keep this text. */
export async function fillField(
  { act, send, poll, locateAll }: CommandContext,
  target: { readonly selector: string; readonly timeout_ms?: number | undefined },
  text: string,
): Promise<void> {
  const { selector } = target
  const checkKept = async (outcome: Awaited<ReturnType<typeof setText>>) => {
    if (outcome === 'emptied') throw lost(selector, 'is empty again')
    if (outcome === 'reverted') throw lost(selector, 'has its old value again')
    if (outcome !== 'replaced' || text === '') return
    // The page may also have left; then nothing can be checked.
    const value = await locateAll(selector).first().evaluate(valueOf, undefined, { timeout: replacedMs }).catch(() => null) // prettier-ignore
    if (value === '') throw lost(selector, 'is empty again')
  }
  await act(
    target,
    'editable',
    async (element, limit) => {
      const handle = await element.elementHandle(limit)
      const { timeout: ms, signal } = limit
      const deadline = { ms, signal, error: 'the page did not answer in time' }
      const check = handle.evaluate(checkField, { value: text, textOnly: true })
      const { fault, waits, kind } = await withDeadline(check, deadline)
      if (kind === 'slider') return pressSlider(handle, target.selector, Number(text), { limit, send, poll })
      if (fault !== undefined && !waits) {
        throw new BaxError('not_editable', `${selector} ${fault}`, { details: { selector } })
      }
      await handle.waitForElementState('visible', limit)
      await handle.waitForElementState('editable', limit)
      const outcome = await send(() => withDeadline(handle.evaluate(setText, text), deadline))
      await checkKept(outcome)
      if (outcome !== 'type') return
      await element.fill(text, limit)
      // An editor that hides its text does not have it in the element.
      if (await handle.evaluate(isEmptied, text)) throw lost(selector, 'is empty again')
    },
    {
      direct: async (element) => {
        const { fault, kind } = await element.evaluate(checkField, { value: text, textOnly: true })
        if (fault !== undefined || kind !== 'text') element.unclear(fault ?? 'not a text field')
        await checkKept(await send(() => element.evaluate(setText, text)))
      },
    },
  )
}

/** Runs in the page: returns whether an editable element without inner structure has lost its text. */
const isEmptied = (node: Node, text: string): boolean =>
  text.trim() !== '' && node.isConnected && node.textContent === '' && !(node as Element).querySelector('*')

/** Time to find the field that has replaced another, in milliseconds. */
const replacedMs = 500

/** Runs in the page. */
const valueOf = (node: Node): string | null => (node as Partial<HTMLInputElement>).value ?? null

const lost = (selector: string, state: string): BaxError =>
  new BaxError('not_editable', `${selector} ${state}: the page has removed the text`, {
    hint: 'use type_text, if the page reacts to keys',
    details: { selector, delivered: true },
  })
