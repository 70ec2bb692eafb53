/** Finds fields of a form that the page changed while the fields after them were set. */
import type { CommandContext } from '../../../core/operation/command.ts'
import type { FieldPlan } from '../form-fields.ts'
import { setText } from '../set-text.ts'

/** Time to find a field again, in milliseconds. */
const foundMs = 500

/** Returns the state of a field; null for one without a state of its own, or that is gone with its page. */
export const stateOf = ({ locateAll }: CommandContext, { selector }: FieldPlan): Promise<string | null> =>
  locateAll(selector)
    .first()
    .evaluate(readState, undefined, { timeout: foundMs })
    .catch(() => null)

/** Returns the text that a field shows in place of its value; null if it has kept it, or is gone. */
export async function changedLater(
  context: CommandContext,
  plan: FieldPlan,
  before: string | null,
): Promise<string | null> {
  const now = before === null ? null : await stateOf(context, plan)
  if (now === null || now === before) return null
  if (plan.kind !== 'text' || now === '') return now
  // Pages format a text when its field is left.
  const text = String(plan.value)
  const set = await context
    .locateAll(plan.selector)
    .first()
    .evaluate(setText, { text, isSet: true }, { timeout: foundMs })
    .catch(() => null)
  return set && 'kept' in set ? now : null
}

/** Runs in the page. */
function readState(node: Node): string | null {
  const field = node instanceof HTMLLabelElement && node.control ? node.control : node
  if (field instanceof HTMLSelectElement) return [...field.selectedOptions].map(({ label }) => label).join(', ')
  if (field instanceof HTMLTextAreaElement) return field.value
  if (!(field instanceof HTMLInputElement)) return null
  if (field.type === 'checkbox' || field.type === 'radio') return String(field.checked)
  // The text of a combobox may be what was searched for.
  return field.role === 'combobox' ? null : field.value
}
