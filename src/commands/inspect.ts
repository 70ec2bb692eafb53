/** Commands that look at elements and evaluate JavaScript. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { defineCommand, extracted } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { describeElement } from './element-facts.ts'
import { boundingBox, box, elementTimeout, extraction, selector, timeoutMs } from './fields.ts'

const evaluateTimeout = timeoutMs
  .min(1)
  .optional()
  .describe(`Time for the evaluation in milliseconds, ${limits.command.evaluateMs} when not given; a hung one is cut`)

const anyType = ['string', 'number', 'boolean', 'null', 'undefined', 'object', 'array', 'bigint', 'nan', 'date']

export const evaluate = defineCommand({
  kind: 'extraction',
  summary: 'Evaluate a JavaScript expression in the page',
  example: "'document.links.length'",
  data: z.object({
    expression: z
      .string()
      .min(1)
      .describe('Expression or statements, of which the last has the value; promises are awaited, await may be used'),
    timeout_ms: evaluateTimeout,
  }),
  result: extraction(z.unknown(), anyType).describe(
    'bigint as text, date as ISO 8601, infinities as their names; a function, element or window as {kind, description}',
  ),
  run: async (context, { expression, timeout_ms = limits.command.evaluateMs }) => ({
    content_type: 'data',
    data: { result: await context.evaluate(expression, { timeoutMs: timeout_ms }) },
  }),
})

export const evaluate_on_element = defineCommand({
  kind: 'extraction',
  summary: 'Evaluate a function with an element as `this`',
  example: "'#price' 'function () { return Number(this.dataset.cents) }'",
  data: z.object({
    selector,
    expression: z
      .string()
      .min(1)
      .describe('function () { … this … }, (element) => …, or an expression that uses `this`; promises are awaited'),
    timeout_ms: evaluateTimeout,
  }),
  result: extraction(z.unknown(), anyType).describe('As of evaluate'),
  run: async ({ act, evaluateOn }, { selector, expression, timeout_ms = limits.command.evaluateMs }) => {
    const result = await act(
      selector,
      async (element, limit) => {
        await element.waitFor({ state: 'attached', ...limit })
        return evaluateOn(element, expression, { timeoutMs: timeout_ms })
      },
      { needs: 'present' },
    )
    return { content_type: 'data', data: { result } }
  },
})

export const get_bounding_boxes = defineCommand({
  kind: 'extraction',
  summary: 'Where the matches of a selector are',
  example: "'button' --limit 10",
  data: z.object({
    selector: selector.describe('Elements, all matches; does not wait for any'),
    limit: z.int().min(1).max(10_000).default(100).describe('At most so many boxes, in document order'),
    include_html: z.boolean().default(false).describe("Add each element's HTML"),
  }),
  result: extraction(z.array(boundingBox), ['array']).extend({ total: z.int().describe('All matches') }),
  run: async ({ measure }, { selector, limit, include_html }) => {
    const { boxes, total } = await measure(selector, { limit, includeHtml: include_html })
    const { content_type, data } = extracted(boxes)
    return { content_type, data: { ...data, total } }
  },
})

export const get_element_bounding_box = defineCommand({
  kind: 'extraction',
  summary: 'Where an element is',
  example: "'#map'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(box.nullable(), ['object', 'null']).describe('null for an element that is not shown'),
  run: async ({ act }, { selector, timeout_ms }) =>
    extracted(
      await act(selector, (element, limit) => element.boundingBox(limit), {
        timeoutMs: timeout_ms,
        needs: 'present',
      }),
    ),
})

const basicFacts = z.object({
  tag: z.string(),
  id: z.string().nullable(),
  classes: z.array(z.string()),
  role: z.string().nullable().describe('Role in the accessibility tree'),
  name: z.string().nullable().describe('Name in the accessibility tree'),
  text: z.string().describe('Text as it is shown, cut after 500 characters'),
  value: z.string().nullable().describe('What a field holds; null for passwords'),
  href: z.string().nullable(),
  visible: z.boolean(),
  enabled: z.boolean(),
  box: box.nullable(),
})

export const get_basic_info = defineCommand({
  kind: 'extraction',
  summary: 'What an element is: tag, role, name, text, state, place',
  example: "'#buy'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(basicFacts, ['object']),
  run: async ({ act }, { selector, timeout_ms }) =>
    act(
      selector,
      async (element, limit) => {
        const { basic } = await factsOf(element, limit.timeout)
        return extracted(basic)
      },
      { timeoutMs: timeout_ms, needs: 'present' },
    ),
})

export const inspect_element = defineCommand({
  kind: 'extraction',
  summary: 'Everything about an element: attributes, state, style, HTML, ancestors, children',
  example: "'form'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(
    basicFacts.extend({
      attributes: z.record(z.string(), z.string()),
      editable: z.boolean(),
      focused: z.boolean(),
      checked: z.boolean().nullable(),
      in_viewport: z.boolean(),
      covered_by: z.string().nullable().describe('What would get a click on its middle'),
      style: z.record(z.string(), z.string()).describe('Computed style: display, position, colours, font, …'),
      path: z.string().describe('CSS selector that finds it in its own document or shadow root'),
      in_shadow_root: z.boolean(),
      ancestors: z.array(z.string()).describe('From its parent upwards'),
      children: z.array(z.string()).describe('The first 50'),
      html: z.string().describe('Outer HTML, cut after 10 000 characters'),
    }),
    ['object'],
  ),
  run: async ({ act }, { selector, timeout_ms }) =>
    act(
      selector,
      async (element, limit) => {
        const { basic, more } = await factsOf(element, limit.timeout)
        return extracted({ ...basic, ...more })
      },
      { timeoutMs: timeout_ms, needs: 'present' },
    ),
})

async function factsOf(element: Locator, timeout: number) {
  const { basic, more } = await element.evaluate(describeElement, undefined, { timeout })
  const [box, tree] = await Promise.all([
    element.boundingBox({ timeout }),
    element.ariaSnapshotJSON({ depth: 1, timeout }),
  ])
  const node = Array.isArray(tree) ? tree[0] : tree
  const { role = null, name = null } = (node ?? {}) as { role?: string | null; name?: string | null }
  return { basic: { ...basic, role, name: name === '' ? null : name, box }, more }
}
