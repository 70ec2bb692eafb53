/** The state of an element, for `get_state`, `verify` and `wait_for`. */
import { z } from 'zod'
import type { CommandContext } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import type { describeElement } from '../element-facts.ts'

export const elementState = z.object({
  visible: z.boolean(),
  hidden: z.boolean(),
  enabled: z.boolean(),
  disabled: z.boolean(),
  checked: z.boolean().nullable().describe('null for elements that cannot be checked'),
  editable: z.boolean(),
  focused: z.boolean(),
  in_viewport: z.boolean(),
})

type ElementState = z.output<typeof elementState>

/** Returns the number of visible matches of a selector. @throws BaxError `invalid_selector` */
export async function countVisible({ measure }: CommandContext, selector: string): Promise<number> {
  const { boxes } = await measure(selector, { limit: limits.input.items, includeHtml: false })
  return boxes.filter(({ visible }) => visible).length
}

/** Returns the states of an element from its description and its `aria-checked`. */
export function stateFrom(
  { basic: { visible, enabled }, more }: ReturnType<typeof describeElement>,
  ariaChecked: string | null,
): ElementState {
  const { editable, focused, in_viewport } = more
  const checked = more.checked ?? (ariaChecked === null ? null : ariaChecked === 'true')
  return { visible, hidden: !visible, enabled, disabled: !enabled, checked, editable, focused, in_viewport }
}
