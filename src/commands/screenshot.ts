/** Commands that take pictures. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { elementTimeout, selector } from './fields.ts'
import { withoutNul } from '../core/shapes/text.ts'

const picture = z.string().describe('The picture, base64 without a data: prefix')

export const screenshot = defineCommand({
  kind: 'extraction',
  summary: 'Picture of the page as PNG',
  example: '--full-page',
  data: z.object({
    full_page: z.boolean().default(false).describe('The whole page and not only what the viewport shows'),
    path: withoutNul(z.string().min(1).max(4096))
      .optional()
      .describe("Save it there as well; on a server, below the session's own download folder"),
  }),
  result: z.object({ screenshot: picture, path: z.string().optional().describe('Where it was saved, absolute') }),
  run: async ({ page, signal, save }, { full_page, path }) => {
    const bytes = await page.screenshot({ fullPage: full_page, timeout: limits.command.navigationMs, signal })
    const saved = path === undefined ? undefined : await save(path, bytes)
    return {
      content_type: 'image/png',
      data: { screenshot: bytes.toString('base64'), ...(saved !== undefined && { path: saved }) },
    }
  },
})

export const element_screenshot = defineCommand({
  kind: 'extraction',
  summary: 'Picture of one element',
  example: "'#chart' --format jpeg --quality 80",
  data: z.object({
    selector,
    format: z.enum(['png', 'jpeg']).default('png').describe('Format of the picture'),
    quality: z.int().min(0).max(100).optional().describe('Quality of a jpeg, 80 when not given; png has none'),
    timeout_ms: elementTimeout,
  }),
  result: z.object({ screenshot: picture }),
  run: async ({ act }, { selector, format, quality = 80, timeout_ms }) => {
    const how = format === 'jpeg' ? ({ type: 'jpeg', quality } as const) : ({ type: 'png' } as const)
    const bytes = await act(selector, (element, limit) => element.screenshot({ ...how, ...limit }), {
      timeoutMs: timeout_ms,
      needs: 'visible',
    })
    return { content_type: `image/${format}`, data: { screenshot: bytes.toString('base64') } }
  },
})
