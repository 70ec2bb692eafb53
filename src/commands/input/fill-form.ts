/** The command that fills several fields of a form. */
import { z } from 'zod'
import { type CommandContext, defineCommand } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { elementTimeout } from '../fields.ts'
import { type FieldPlan, findFields, formField } from './form-fields.ts'
import type { FormValue } from './check-field.ts'
import { fillField } from './fill-field.ts'
import { changedLater, stateOf } from './form/changed-later.ts'
import { setGroup } from './form/set-group.ts'
import { selectOptions, setChecked } from './set-control.ts'

const text = z.string().max(limits.input.typedChars)
const value = z.union([text, z.number(), z.boolean(), z.array(z.union([text, z.number()])).max(limits.input.names)])

export const fill_form = defineCommand({
  kind: 'action',
  summary: 'Fill several fields of a form',
  example: `'{"Email": "me@example.com", "#terms": true}'`,
  data: z.object({
    fields: z
      .record(z.string().min(1).max(limits.input.selectorChars), value)
      .refine((fields) => Object.keys(fields).length > 0, 'needs at least one field')
      .describe(
        'Values by label or selector: text; true or false for a checkbox or radio button; for a select element values ' +
          'or labels of options, also for other lists of options; a date as 2024-02-29; a list for several checkboxes, for ' +
          'tags, or for both ends of a range. Nothing is set when one of them is not possible',
      ),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'form' },
  // Each field has its own timeout, limited by that of the batch.
  maxDurationMs: limits.command.batchMs,
  result: z.object({
    fields: z.array(
      z.object({
        field: z.string().describe('Label or selector, as given'),
        kind: formField.shape.kind,
        selector: z.string().describe('Selector of the field'),
      }),
    ),
  }),
  run: async (context, { fields, timeout_ms }) => {
    const plans = await findFields(context, fields, timeout_ms)
    const set: string[] = []
    const states = new Map<FieldPlan, string | null>()
    for (const plan of plans) {
      context.nextInput()
      try {
        await setField(context, plan, timeout_ms)
      } catch (error) {
        throw error instanceof BaxError ? ofField(error, plan, set) : error
      }
      set.push(plan.field)
      if (plan !== plans.at(-1)) states.set(plan, await stateOf(context, plan))
    }
    for (const [plan, state] of states) {
      const now = await changedLater(context, plan, state)
      if (now !== null) throw notHeld(plan, now, set)
    }
    return { data: { fields: plans.map(({ field, kind, shown }) => ({ field, kind, selector: shown })) } }
  },
})

/** Names the field as the caller does, and the fields that were set before. */
/** Builds the error for a field that the page changed when another one was set, such as a list that depends on it. */
function notHeld({ field }: FieldPlan, now: string, set: readonly string[]): BaxError {
  const message = `${field} was set, but then changed by the page to ${JSON.stringify(now.slice(0, 100))}`
  return new BaxError('action_failed', message, {
    hint: 'the page limits it, or it depends on a field that was set after it: set it last',
    details: { selector: field, delivered: true, set: set.filter((one) => one !== field) },
  })
}

function ofField(error: BaxError, { field, selector }: FieldPlan, set: readonly string[]): BaxError {
  const named = error.message.replaceAll(selector, field)
  const details = {
    ...(Array.isArray(error.details) ? {} : error.details),
    selector: field,
    ...(set.length > 0 && { set }),
  }
  const message = set.length > 0 ? `${named} (set before: ${set.join(', ')})` : named
  return new BaxError(error.code, message, { ...(error.hint && { hint: error.hint }), details, cause: error })
}

/** Sets one field, whose value was validated. */
async function setField(context: CommandContext, { kind, selector, value, isGroup }: FieldPlan, timeout_ms?: number) {
  const target = { selector, timeout_ms }
  if (isGroup || (kind === 'text' && Array.isArray(value))) return setGroup(context, target, value)
  if (kind === 'text' || kind === 'slider') return fillField(context, target, String(value))
  if (kind === 'select') {
    await selectOptions(context, target, [value].flat().map(String))
    return
  }
  await setChecked(context, target, isOn(value))
}

/** `true`, also as text. */
const isOn = (value: FormValue) => value === true || value === 'true'
