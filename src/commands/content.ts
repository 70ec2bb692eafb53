/** Commands that read what a page says. */
import type { Locator } from 'playwright'
import { z } from 'zod'
import { type CallLimit, defineCommand, extracted } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { jsonSchema } from '../core/shapes/json-schema.ts'
import { elementTimeout, extraction, selector } from './fields.ts'
import { outlineOf } from './outline.ts'

export const get_content = defineCommand({
  kind: 'extraction',
  summary: 'Content of the page or of one element',
  example: '--kind html',
  data: z.object({
    selector: selector.optional().describe('Element; the whole page when not given'),
    kind: z
      .enum(['markdown', 'html', 'json'])
      .default('markdown')
      .describe(
        'markdown; html as the page has it now; json = an outline: title, url, headings, links, images, forms with their fields, tables, text',
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
    const content = await act(
      selector,
      async (element, limit) => {
        await element.waitFor({ state: 'attached', ...limit })
        if (kind === 'markdown') return markdown(element)
        return kind === 'json' ? element.evaluate(outlineOf) : element.evaluate((node) => node.outerHTML)
      },
      { timeoutMs: timeout_ms, needs: 'present' },
    )
    return { content_type: kind, data: { content } }
  },
})

export const get_text = defineCommand({
  kind: 'extraction',
  summary: 'Text of an element as it is shown',
  example: "'h1'",
  data: z.object({ selector, timeout_ms: elementTimeout }),
  result: extraction(z.string(), ['string']).describe('For a field, what it holds'),
  run: async ({ act }, { selector, timeout_ms }) =>
    extracted(await act(selector, textOf, { timeoutMs: timeout_ms, needs: 'present' })),
})

/** Most elements have their text in one call; what fields hold, and the text of drawings, takes another. */
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
  summary: 'Value of an attribute of an element',
  example: "'a.next' href",
  data: z.object({
    selector,
    attribute: z.string().min(1).max(limits.input.labelChars).describe('Name of the attribute'),
    timeout_ms: elementTimeout,
  }),
  result: extraction(z.string().nullable(), ['string', 'null']).describe('null when the element does not have it'),
  run: async ({ act }, { selector, attribute, timeout_ms }) =>
    extracted(
      await act(selector, (element, limit) => element.getAttribute(attribute, limit), {
        timeoutMs: timeout_ms,
        needs: 'present',
      }),
    ),
})

export const get_title = defineCommand({
  kind: 'extraction',
  summary: 'Title of the page',
  example: '',
  data: z.object({}),
  result: extraction(z.string(), ['string']),
  run: async ({ page }) => extracted(await page.title()),
})

export const extract_structured_content = defineCommand({
  kind: 'extraction',
  summary: 'Structured data from the page, by a question or a JSON schema',
  example: "'name and price of every product'",
  data: z.object({
    query: z.string().min(1).max(10_000).describe('What to extract, in words'),
    schema: jsonSchema.optional().describe('JSON schema that the value should have'),
    max_chars: z.int().min(1).max(limits.bodyBytes).optional().describe('Reads at most so many characters of the page'),
  }),
  result: extraction(z.unknown(), ['object', 'array', 'string', 'number', 'boolean', 'null']).extend({
    source: z.enum(['model', 'heuristic']).describe('What extracted it: a configured model, or rules'),
    valid: z.boolean().describe('Whether the value has the schema'),
    errors: z.array(z.string()).describe('Where it has not'),
  }),
  // A model may be asked twice.
  withinMs: 2 * limits.model.answerMs + limits.command.evaluateMs,
  run: async ({ structured }, request) => {
    const { value, source, valid, errors } = await structured(request)
    const { content_type, data } = extracted(value)
    return { content_type, data: { ...data, source, valid, errors } }
  },
})
