/** Commands that read a value, styles or a state of an element. */
import { z } from 'zod'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { listOf } from '../../core/shapes/fields.ts'
import { limits } from '../../core/limits/limits.ts'
import { describeElement } from '../element-facts.ts'
import { elementTimeout, extraction, selector } from '../fields.ts'
import { countVisible, elementState, stateFrom } from './state.ts'
import { readValue, valueOf } from './value.ts'

export const get_value = defineCommand({
  kind: 'extraction',
  summary: 'Get the value of a form field or editor',
  also: ['get value'],
  example: "'#q'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(z.union([z.string(), z.array(z.string())]), ['string', 'array']).describe(
    'For a select element, the value of the selected option, or with `multiple` the list of all; for an editor, its text',
  ),
  run: async ({ act }, target) =>
    extracted(
      await act(target, 'present', (element, limit) => readValue(element, target.selector, limit), {
        direct: async (element) => (await element.evaluate(valueOf, undefined)) ?? element.unclear('not a plain field'),
      }),
    ),
})

export const get_styles = defineCommand({
  kind: 'extraction',
  summary: 'Get computed styles of an element',
  also: ['get styles'],
  positional: [['selector', 'properties']],
  example: ["'#buy'", "'#buy' color font-size"],
  data: z.object({
    selector,
    properties: listOf(z.string().min(1).max(limits.input.nameChars))
      .optional()
      .describe('Names such as color, font-size or --accent; a selection of layout and text when omitted'),
    timeout_ms: elementTimeout,
  }),
  result: extraction(z.record(z.string(), z.string()), ['object']).describe('Empty for a property that is not set'),
  run: async ({ act }, { properties, ...target }) => {
    const read = (node: Element, names: string[]) => {
      const style = getComputedStyle(node)
      return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]))
    }
    const styles = await act(
      target,
      'present',
      async (element, { timeout }) => {
        if (properties) return element.evaluate(read, properties, { timeout })
        return (await element.evaluate(describeElement, undefined, { timeout })).more.style
      },
      {
        direct: async (element) => {
          if (properties) return element.evaluate(read, properties)
          return (await element.evaluate(describeElement, undefined)).more.style
        },
      },
    )
    return extracted(styles)
  },
})

const states = ['visible', 'hidden', 'enabled', 'disabled', 'checked', 'editable', 'focused', 'in_viewport'] as const

export const get_state = defineCommand({
  kind: 'extraction',
  summary: 'Get the state of an element: visible, enabled, checked',
  also: [
    { words: 'is visible', data: { state: 'visible' } },
    { words: 'is hidden', data: { state: 'hidden' } },
    { words: 'is enabled', data: { state: 'enabled' } },
    { words: 'is disabled', data: { state: 'disabled' } },
    { words: 'is checked', data: { state: 'checked' } },
    { words: 'is editable', data: { state: 'editable' } },
    { words: 'is focused', data: { state: 'focused' } },
  ],
  positional: [['selector', 'state']],
  example: ["'#buy'", "'#buy' enabled"],
  data: z.object({
    selector,
    state: z
      .enum(states)
      .optional()
      .describe('State to report as true or false; all when omitted. visible and hidden do not wait for the element'),
    timeout_ms: elementTimeout,
  }),
  result: extraction(z.union([z.boolean(), elementState]), ['boolean', 'object']),
  run: async (context, { state, ...target }) => {
    if (state === 'visible' || state === 'hidden')
      return extracted((await countVisible(context, target.selector)) > 0 === (state === 'visible'))
    const chosen = (...facts: Parameters<typeof stateFrom>) => {
      const all = stateFrom(...facts)
      return state === undefined ? all : all[state]
    }
    const found = await context.act(
      target,
      'present',
      async (element, limit) => {
        const { timeout } = limit
        if (state === 'checked') return element.isChecked(limit)
        const facts = await element.evaluate(describeElement, undefined, { timeout })
        return chosen(facts, await element.getAttribute('aria-checked', limit))
      },
      {
        direct: async (element) => {
          if (state === 'checked') return element.unclear('which role decides')
          const facts = await element.evaluate(describeElement, undefined)
          return chosen(facts, await element.evaluate((node) => node.getAttribute('aria-checked'), undefined))
        },
      },
    )
    return extracted(found)
  },
})
