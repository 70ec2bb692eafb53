/** Commands that draw on the page, for viewers and screenshots. */
import { z } from 'zod'
import { flag, integer } from '../core/shapes/fields.ts'
import { defineCommand } from '../core/operation/command.ts'
import { boundingBox } from '../core/shapes/commands.ts'
import { selector } from './fields.ts'

export const toggle_click_overlay = defineCommand({
  kind: 'action',
  summary: 'Show or hide pointer and click marks',
  example: ['true', 'false'],
  data: z.object({
    enabled: z.boolean().describe('Stays on across navigations and in new tabs until turned off'),
  }),
  result: null,
  run: ({ overlay }, { enabled }) => overlay.clicks(enabled),
})

export const toggle_bounding_boxes = defineCommand({
  kind: 'action',
  summary: 'Draw or remove numbered boxes around elements',
  also: ['highlight', { words: 'highlight', data: { enabled: true }, positional: [['selector']] }],
  example: ['true', 'true --selector button --limit 20', 'false'],
  data: z.object({
    enabled: z.boolean().describe('Stays on across navigations and in new tabs until turned off'),
    selector: selector.optional().describe('Elements to draw boxes around; interactive ones when omitted'),
    limit: integer(1, 10_000).default(200).describe('Maximum number of boxes, in document order'),
    include_html: flag("Add each element's HTML to the result"),
  }),
  result: z.object({ boxes: z.array(boundingBox).describe('Boxes drawn, with the numbers they show') }),
  run: async ({ overlay, warn }, { enabled, selector, limit, include_html }) => {
    const boxes = await overlay.boxes({ enabled, selector, limit, includeHtml: include_html })
    if (enabled && boxes.length === 0)
      warn(selector === undefined ? 'the page has no interactive element' : `no element matches ${selector}`)
    return { data: { boxes } }
  },
})
