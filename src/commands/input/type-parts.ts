/** Typing into fields whose parts are typed one by one: dates and times. */
import type { ElementHandle } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'
import { checkField } from './check-field.ts'

/** A value for each type that is written in parts. */
const examples: Readonly<Record<string, string>> = {
  date: '2024-02-29',
  time: '09:30',
  'datetime-local': '2024-02-29T09:30',
  month: '2024-02',
  week: '2024-W09',
}

/** Input types whose value is set as a whole where it is a valid one. */
export const composed: ReadonlySet<string> = new Set([...Object.keys(examples), 'color', 'range'])

/** Parts of a date or time, as a person types them: digits with separators, and the half of the day. */
const parts = /^[\d ./:,-]*(?:[ap]m?)?$/i

/**
 * Sets a field of a composed type: a valid value as a whole, other text as keys in the parts of a date or time, as a
 * person types it in the language of the page. @throws BaxError `invalid_data` when that gives no value; it is kept then.
 */
export async function typeComposed(
  { page, send }: CommandContext,
  field: ElementHandle,
  { selector, text, type }: { readonly selector: string; readonly text: string; readonly type: string },
  limit: CallLimit,
): Promise<void> {
  const { invalid } = await field.evaluate(checkField, { value: text, textOnly: true })
  if (!invalid) return field.fill(text, limit)
  const example = examples[type]
  const hint = example
    ? `its value looks like ${example}, or type its parts in the order shown`
    : `it is of type ${type}`
  const refused = new BaxError('invalid_data', `${selector} does not take ${JSON.stringify(text.slice(0, 100))}`, {
    hint,
    details: { selector },
  })
  if (!example || !parts.test(text)) throw refused
  await field.waitForElementState('visible', limit)
  await field.waitForElementState('editable', limit)
  const before = await field.inputValue(limit)
  await field.focus()
  // Keys that are not taken would leave a value that was there before.
  await field.fill('', limit)
  await send(() => page.keyboard.type(text))
  if ((await field.inputValue(limit)) !== '') return
  await field.fill(before, limit)
  throw refused
}
