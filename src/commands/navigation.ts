/** Commands that open addresses and wait for what they bring. */
import { z } from 'zod'
import { defineCommand } from '../core/command.ts'
import { limits } from '../core/limits.ts'

export const navigate_to = defineCommand({
  kind: 'action',
  summary: 'Open an address and wait until it has loaded',
  example: 'https://example.com',
  data: z.object({ url: z.string().min(1).describe('Address; without a scheme https:// is added') }),
  result: z.object({ url: z.string(), status_code: z.int().nullable() }),
  run: async ({ page, checkUrl }, { url }) => {
    const response = await page.goto(checkUrl(url), { timeout: limits.command.navigationMs })
    return { data: { url: page.url(), status_code: response?.status() ?? null } }
  },
})
