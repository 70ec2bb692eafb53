/** Commands that read facts about the page. */
import { z } from 'zod'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { flag } from '../../core/shapes/fields.ts'
import { elementTimeout, extraction, selector } from '../fields.ts'

export const get_url = defineCommand({
  kind: 'extraction',
  summary: 'Get the URL of the page',
  also: ['get url'],
  example: '',
  data: z.object({}),
  result: extraction(z.string(), ['string']),
  run: async ({ page }) => extracted(page.url()),
})

export const get_html = defineCommand({
  kind: 'extraction',
  summary: 'Get HTML of the page or an element',
  also: ['get html'],
  positional: [['selector']],
  example: ['', "'#results' --inner"],
  data: z.object({
    selector: selector.optional().describe('Element; the whole page when omitted'),
    inner: flag('Only the content of the element, without its own tag'),
    timeout_ms: elementTimeout,
  }),
  result: extraction(z.string(), ['string']).describe('HTML of the current DOM'),
  run: async ({ page, act }, { selector, inner, timeout_ms }) => {
    if (selector === undefined) return extracted(inner ? await page.locator(':root').innerHTML() : await page.content())
    const read = (element: Element, inside: boolean) => (inside ? element.innerHTML : element.outerHTML)
    return extracted(
      await act(
        { selector, timeout_ms },
        'present',
        (element, { timeout }) => element.evaluate(read, inner, { timeout }),
        {
          direct: (element) => element.evaluate(read, inner),
        },
      ),
    )
  },
})

export const count_elements = defineCommand({
  kind: 'extraction',
  summary: 'Count the elements that match a selector',
  also: ['get count'],
  example: 'li',
  data: z.object({ selector: selector.describe('Elements, all matches; the command does not wait for them') }),
  result: extraction(z.int(), ['number']),
  run: async ({ measure }, { selector }) =>
    extracted((await measure(selector, { limit: 1, includeHtml: false })).total),
})
