/** Commands that inspect elements and evaluate JavaScript. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { flag, integer } from '../core/shapes/fields.ts'
import { type CallLimit, defineCommand, extracted } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { describeElement } from './element-facts.ts'
import { boundingBox, box } from '../core/shapes/commands.ts'
import { elementTimeout, extraction, selector, timeoutMs } from './fields.ts'

export * from './read/element.ts'
export * from './wait/verify.ts'

const evaluateTimeout = timeoutMs
  .min(1)
  .optional()
  .describe(`Timeout in milliseconds, ${limits.command.evaluateMs} when omitted; hung scripts are stopped`)

const anyType = ['string', 'number', 'boolean', 'null', 'undefined', 'object', 'array', 'bigint', 'nan', 'date']

export const evaluate = defineCommand({
  kind: 'extraction',
  summary: 'Evaluate a JavaScript expression in the page',
  runsCode: true,
  also: ['eval'],
  example: ["'document.links.length'", `'fetch("/items.json").then((response) => response.json())'`],
  data: z.object({
    expression: z
      .string()
      .min(1)
      .describe('Expression, or statements whose last value is the result; promises are awaited, and await is allowed'),
    timeout_ms: evaluateTimeout,
  }),
  result: extraction(z.unknown(), anyType).describe(
    'bigint as text, date as ISO 8601, infinities as text; a function, element or window as {kind, description}',
  ),
  run: async (context, { expression, timeout_ms = limits.command.evaluateMs }) => ({
    content_type: 'data',
    data: { result: await context.evaluate(expression, { timeoutMs: timeout_ms }) },
  }),
})

export const evaluate_on_element = defineCommand({
  kind: 'extraction',
  summary: 'Evaluate an expression with an element as `this`',
  runsCode: true,
  example: "'#price' 'function () { return Number(this.dataset.cents) }'",
  data: z.object({
    selector,
    expression: z
      .string()
      .min(1)
      .describe('function () { … this … }, (element) => …, or an expression that uses `this`; promises are awaited'),
    timeout_ms: evaluateTimeout,
  }),
  result: extraction(z.unknown(), anyType).describe('Same as for evaluate'),
  run: async ({ act, evaluateOn }, { selector, expression, timeout_ms = limits.command.evaluateMs }) => {
    const result = await act({ selector }, 'present', async (element, limit) => {
      await element.waitFor({ state: 'attached', ...limit })
      return evaluateOn(element, expression, { timeoutMs: timeout_ms })
    })
    return { content_type: 'data', data: { result } }
  },
})

export const get_bounding_boxes = defineCommand({
  kind: 'extraction',
  summary: 'Get bounding boxes of all matching elements',
  example: ['button', 'button --limit 10 --include-html'],
  data: z.object({
    selector: selector.describe('Elements, all matches; the command does not wait for them'),
    limit: integer(1, 10_000).default(100).describe('Maximum number of boxes, in document order'),
    include_html: flag("Add each element's HTML"),
  }),
  result: extraction(z.array(boundingBox), ['array']).extend({ total: z.int().describe('Number of all matches') }),
  run: async ({ measure }, { selector, limit, include_html }) => {
    const { boxes, total } = await measure(selector, { limit, includeHtml: include_html })
    const { content_type, data } = extracted(boxes)
    return { content_type, data: { ...data, total } }
  },
})

export const get_element_bounding_box = defineCommand({
  kind: 'extraction',
  summary: 'Get the bounding box of an element',
  also: ['get box'],
  example: "'#map'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(box.nullable(), ['object', 'null']).describe('null for an element that is not rendered'),
  run: async ({ act }, target) =>
    extracted(await act(target, 'present', (element, limit) => element.boundingBox(limit))),
})

const basicFacts = z.object({
  tag: z.string(),
  id: z.string().nullable(),
  classes: z.array(z.string()),
  role: z.string().nullable().describe('Role in the accessibility tree'),
  name: z.string().nullable().describe('Name in the accessibility tree'),
  text: z.string().describe('Rendered text, truncated to 500 characters'),
  value: z.string().nullable().describe('Value of a form field; null for passwords'),
  href: z.string().nullable(),
  visible: z.boolean(),
  enabled: z.boolean(),
  box: box.nullable(),
})

export const get_basic_info = defineCommand({
  kind: 'extraction',
  summary: 'Get basic properties of an element',
  example: "'#buy'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(basicFacts, ['object']),
  run: async ({ act }, target) => {
    const { basic } = await act(target, 'present', factsOf)
    return extracted(basic)
  },
})

export const inspect_element = defineCommand({
  kind: 'extraction',
  summary: 'Inspect an element: attributes, style, HTML, ancestors',
  example: "'form'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(
    basicFacts.extend({
      attributes: z.record(z.string(), z.string()),
      editable: z.boolean(),
      focused: z.boolean(),
      checked: z.boolean().nullable(),
      in_viewport: z.boolean(),
      covered_by: z.string().nullable().describe('Element that would receive a click on its middle'),
      style: z.record(z.string(), z.string()).describe('Computed style: display, position, colours, font, …'),
      path: z.string().describe('CSS selector of the element within its document or shadow root'),
      in_shadow_root: z.boolean(),
      ancestors: z.array(z.string()).describe('From its parent upwards'),
      children: z.array(z.string()).describe('At most the first 50'),
      html: z.string().describe('Outer HTML, truncated to 10 000 characters'),
    }),
    ['object'],
  ),
  run: async ({ act }, target) => {
    const { basic, more } = await act(target, 'present', factsOf)
    return extracted({ ...basic, ...more })
  },
})

async function factsOf(element: Locator, { timeout }: CallLimit) {
  const { basic, more } = await element.evaluate(describeElement, undefined, { timeout })
  const [box, tree] = await Promise.all([
    element.boundingBox({ timeout }),
    element.ariaSnapshotJSON({ depth: 1, timeout }),
  ])
  const node = Array.isArray(tree) ? tree[0] : tree
  const { role = null, name = null } = (node ?? {}) as { role?: string | null; name?: string | null }
  return { basic: { ...basic, role, name: name === '' ? null : name, box }, more }
}
