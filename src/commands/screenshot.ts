/** Commands that take screenshots. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { elementTimeout, selector } from './fields.ts'
import { flag, integer, withoutNul } from '../core/shapes/fields.ts'

const image = z.string().describe('Image data, base64 without a data: prefix')

export const screenshot = defineCommand({
  kind: 'extraction',
  summary: 'Take a screenshot of the page as PNG',
  example: '--full-page',
  data: z.object({
    full_page: flag('Capture the whole page instead of the viewport'),
    path: withoutNul(z.string().min(1).max(4096))
      .optional()
      .describe("Path to also save the image to; on a server, within the session's download folder"),
  }),
  bytes: 'screenshot',
  result: z.object({ screenshot: image, path: z.string().optional().describe('Absolute path of the saved image') }),
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
  summary: 'Take a screenshot of an element',
  example: "'#chart' --format jpeg --quality 80",
  data: z.object({
    selector,
    format: z.enum(['png', 'jpeg']).default('png').describe('Format of the image'),
    quality: integer(0, 100).optional().describe('JPEG quality, 80 when omitted; ignored for png'),
    timeout_ms: elementTimeout,
  }),
  bytes: 'screenshot',
  result: z.object({ screenshot: image }),
  run: async ({ act }, { format, quality = 80, ...target }) => {
    const how = format === 'jpeg' ? ({ type: 'jpeg', quality } as const) : ({ type: 'png' } as const)
    const bytes = await act(target, 'visible', (element, limit) => element.screenshot({ ...how, ...limit }))
    return { content_type: `image/${format}`, data: { screenshot: bytes.toString('base64') } }
  },
})
