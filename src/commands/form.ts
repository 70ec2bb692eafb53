/** Commands for form fields. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { elementTimeout, selector } from './fields.ts'
import { selectOptions, setChecked } from './input/set-control.ts'
import { limits } from '../core/limits/limits.ts'

export * from './input/fill-form.ts'
export * from './session/login.ts'

export const focus = defineCommand({
  kind: 'action',
  summary: 'Focus an element',
  example: "'#q'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: null,
  run: async ({ act }, target) => {
    const focused = await act(target, 'present', (element, { timeout }) =>
      element.evaluate(
        (node) => {
          if (node instanceof HTMLElement || node instanceof SVGElement) node.focus()
          const { activeElement } = node.getRootNode() as Document | ShadowRoot
          return activeElement === node || node.contains(activeElement)
        },
        undefined,
        { timeout },
      ),
    )
    const { selector } = target
    if (!focused) {
      throw new BaxError('action_failed', `${selector} cannot be focused: it is disabled, hidden or not focusable`, {
        details: { selector },
      })
    }
  },
})

export const check = defineCommand({
  kind: 'action',
  summary: 'Set a checkbox or radio button',
  example: "'#terms'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'press', noun: 'check' },
  result: null,
  run: (context, target) => setChecked(context, target, true),
})

export const uncheck = defineCommand({
  kind: 'action',
  summary: 'Clear a checkbox',
  example: "'#news'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  input: { kind: 'press', noun: 'uncheck' },
  result: null,
  run: (context, target) => setChecked(context, target, false),
})

export const select_option = defineCommand({
  kind: 'action',
  summary: 'Select options of a list',
  also: ['select'],
  example: ["'#country' Germany", "'#sizes' M L XL"],
  data: z.object({
    selector,
    values: z
      .array(z.string().max(limits.input.selectorChars))
      .min(1)
      .max(1000)
      .describe('Labels of the options to select; for a select element also their values'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'selection' },
  result: z.object({
    selected: z
      .array(z.string())
      .describe('Values of the selected options; names for other lists than select elements'),
  }),
  run: async (context, { values, ...target }) => ({ data: { selected: await selectOptions(context, target, values) } }),
})
