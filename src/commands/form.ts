/** Commands for form fields. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { elementTimeout, selector } from './fields.ts'
import { limits } from '../core/limits/limits.ts'

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
  run: ({ act }, target) => act(target, 'pointer', (element, limit) => element.check(limit)),
})

export const select_option = defineCommand({
  kind: 'action',
  summary: 'Select options of a select element',
  also: ['select'],
  example: "'#country' Germany",
  data: z.object({
    selector,
    values: z
      .array(z.string().max(limits.input.selectorChars))
      .min(1)
      .max(1000)
      .describe('Values or labels of the options to select'),
    timeout_ms: elementTimeout,
  }),
  input: { kind: 'text', noun: 'selection' },
  result: z.object({ selected: z.array(z.string()).describe('Values of the selected options') }),
  run: async ({ act }, { values, ...target }) => {
    const selected = await act(target, 'editable', (element, limit) => element.selectOption(values, limit))
    return { data: { selected } }
  },
})
