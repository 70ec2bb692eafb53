/** Commands that draw on the page for those who watch it or look at its pictures. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { boundingBox, selector } from './fields.ts'

export const toggle_click_overlay = defineCommand({
  kind: 'action',
  summary: 'Show or hide marks at the pointer and at the last clicks',
  example: 'true',
  data: z.object({
    enabled: z.boolean().describe('Stays on over navigations and in new tabs until it is switched off'),
  }),
  result: null,
  run: ({ overlay }, { enabled }) => overlay.clicks(enabled),
})

export const toggle_bounding_boxes = defineCommand({
  kind: 'action',
  summary: 'Draw or remove numbered boxes around elements',
  example: "true --selector 'button'",
  data: z.object({
    enabled: z.boolean().describe('Stays on over navigations and in new tabs until it is switched off'),
    selector: selector.optional().describe('Elements to draw around; those that can be used when not given'),
    limit: z.int().min(1).max(10_000).default(200).describe('At most so many boxes, in document order'),
    include_html: z.boolean().default(false).describe("Add each element's HTML to the result"),
  }),
  result: z.object({ boxes: z.array(boundingBox).describe('The boxes drawn, with the numbers that they show') }),
  run: async ({ overlay }, { enabled, selector, limit, include_html }) => ({
    data: { boxes: await overlay.boxes({ enabled, selector, limit, includeHtml: include_html }) },
  }),
})
