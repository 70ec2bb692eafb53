/** Commands that read the content of a page. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { integer } from '../core/shapes/fields.ts'
import { type CallLimit, defineCommand, extracted } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { jsonSchema } from '../core/shapes/json-schema.ts'
import { elementTimeout, extraction, selector } from './fields.ts'
import { outlineOf } from './outline.ts'

export * from './read/find-text.ts'
export * from './read/similar.ts'
export * from './read/page.ts'

export const get_content = defineCommand({
  kind: 'extraction',
  summary: 'Get content of the page or an element',
  example: ['', '--kind html', '--selector main'],
  data: z.object({
    selector: selector.optional().describe('Element; the whole page when omitted'),
    kind: z
      .enum(['markdown', 'html', 'json'])
      .default('markdown')
      .describe(
        'markdown; html of the current DOM; json = an outline: title, url, headings, links, images, forms with their fields, tables, text',
      ),
    timeout_ms: elementTimeout,
  }),
  result: z.object({
    content: z.union([z.string(), z.record(z.string(), z.unknown())]).describe('Text, or the outline as an object'),
  }),
  run: async ({ page, act, markdown }, { selector, kind, timeout_ms }) => {
    if (selector === undefined) {
      if (kind === 'markdown') return { content_type: kind, data: { content: await markdown() } }
      const content = kind === 'html' ? await page.content() : await page.locator(':root').evaluate(outlineOf)
      return { content_type: kind, data: { content } }
    }
    const content = await act({ selector, timeout_ms }, 'present', async (element, limit) => {
      await element.waitFor({ state: 'attached', ...limit })
      if (kind === 'markdown') return markdown(element)
      return kind === 'json' ? element.evaluate(outlineOf) : element.evaluate((node) => node.outerHTML)
    })
    return { content_type: kind, data: { content } }
  },
})

export const get_text = defineCommand({
  kind: 'extraction',
  summary: 'Get the visible text of an element',
  also: ['get text'],
  example: ['h1', "'frame=#map >> .title'"],
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(z.string(), ['string']).describe('For a form field, its value'),
  run: async ({ act }, target) =>
    extracted(await act(target, 'present', textOf, { direct: (element) => element.evaluate(textOfNode, undefined) })),
})

/** Runs in the page: returns the rendered text. */
function textOfNode(node: Element): string {
  const text = node instanceof HTMLElement ? node.innerText : (node.textContent ?? '')
  if (text === '' && (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement)) return node.value
  return text
}

/** Returns the rendered text; form fields and SVG elements have none and take a second call. */
async function textOf(element: Locator, limit: CallLimit): Promise<string> {
  const text = await element.innerText(limit).catch((error: unknown) => {
    if (error instanceof Error && /not an HTMLElement/.test(error.message)) return ''
    throw error
  })
  if (text !== '') return text
  return element.evaluate(
    (node) => {
      if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement) return node.value
      return node instanceof HTMLElement ? '' : (node.textContent ?? '')
    },
    undefined,
    { timeout: limit.timeout },
  )
}

export const get_attribute = defineCommand({
  kind: 'extraction',
  summary: 'Get an attribute of an element',
  also: ['get attr'],
  example: ["'a.next' href", "'img.logo' src"],
  data: z.object({
    selector,
    attribute: z.string().min(1).max(limits.input.labelChars).describe('Name of the attribute'),
    timeout_ms: elementTimeout,
  }),
  result: extraction(z.string().nullable(), ['string', 'null']).describe('null when the element does not have it'),
  run: async ({ act }, { attribute, ...target }) =>
    extracted(
      await act(target, 'present', (element, limit) => element.getAttribute(attribute, limit), {
        direct: (element) => element.evaluate((node, name) => node.getAttribute(name), attribute),
      }),
    ),
})

export const get_title = defineCommand({
  kind: 'extraction',
  summary: 'Get the title of the page',
  also: ['get title'],
  example: '',
  data: z.object({}),
  result: extraction(z.string(), ['string']),
  run: async ({ title }) => extracted(await title()),
})

export const extract_structured_content = defineCommand({
  kind: 'extraction',
  summary: 'Extract structured data by question or JSON schema',
  example: [
    "'name and price of every product'",
    `price --schema '{"type":"object","properties":{"price":{"type":"number"}}}'`,
  ],
  data: z.object({
    query: z.string().min(1).max(10_000).describe('What to extract, in plain language'),
    schema: jsonSchema.optional().describe('JSON schema of the value'),
    max_chars: integer(1, limits.bodyBytes).optional().describe('Maximum characters of the page to read'),
  }),
  result: extraction(z.unknown(), ['object', 'array', 'string', 'number', 'boolean', 'null']).extend({
    source: z.enum(['model', 'heuristic']).describe('Source of the value: a configured model, or heuristics'),
    valid: z.boolean().describe('Whether the value matches the schema'),
    errors: z.array(z.string()).describe('Where the value does not match the schema'),
    warnings: z.array(z.string()).describe('What the page shows and the value does not have, such as rows of tables'),
  }),
  // A model may be called twice.
  maxDurationMs: 2 * limits.model.answerMs + limits.command.evaluateMs,
  run: async ({ structured }, request) => {
    const { value, ...facts } = await structured(request)
    const { content_type, data } = extracted(value)
    return { content_type, data: { ...data, ...facts } }
  },
})
