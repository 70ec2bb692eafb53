/** Commands that open addresses and wait for what they bring. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { retryPassing } from '../core/errors/transient-errors.ts'
import { isUrl } from '../core/net/urls.ts'
import { elementTimeout, selector, timeoutMs } from './fields.ts'
import { urlText } from '../core/shapes/text.ts'

const navigationTimeout = timeoutMs
  .min(1)
  .optional()
  .describe(`Time for the navigation in milliseconds, ${limits.command.navigationMs} when not given`)

const arrived = z.object({
  url: z.string().describe('Address after redirects'),
  status_code: z.int().nullable().describe('HTTP status; null for an address without HTTP and within a document'),
})

export const navigate_to = defineCommand({
  kind: 'action',
  summary: 'Open an address and wait until it has loaded',
  example: 'https://example.com',
  data: z.object({
    url: urlText
      .refine((url) => url === '' || isUrl(url), { error: 'is not a URL' })
      .describe('Address; without a scheme https:// is added, for this machine http://'),
    timeout_ms: navigationTimeout,
  }),
  result: arrived,
  run: async ({ signal, checkUrl, leave }, { url, timeout_ms = limits.command.navigationMs }) => {
    const address = checkUrl(url)
    return leave(async (page) => {
      try {
        const response = await retryPassing(() => page.goto(address, { timeout: timeout_ms, signal }))
        return { data: { url: page.url(), status_code: response?.status() ?? null } }
      } catch (error) {
        // A page that sends its visitor on before it has loaded has been opened all the same.
        if (!(error instanceof Error && /interrupted by another navigation/.test(error.message))) throw error
        await page.waitForLoadState('load', { timeout: timeout_ms })
        return { data: { url: page.url(), status_code: null } }
      }
    })
  },
})

export const refresh = defineCommand({
  kind: 'action',
  summary: 'Load the page again',
  example: '',
  data: z.object({ timeout_ms: navigationTimeout }),
  result: arrived,
  run: async ({ page, signal, leave }, { timeout_ms = limits.command.navigationMs }) => {
    const url = page.url()
    const limit = { timeout: timeout_ms, signal }
    return leave(async (free) => {
      const response = free === page ? await page.reload(limit) : await free.goto(url, limit)
      return { data: { url: free.url(), status_code: response?.status() ?? null } }
    })
  },
})

export const wait_for_navigation = defineCommand({
  kind: 'action',
  summary: 'Wait until a navigation has loaded',
  example: '--timeout-ms 5000',
  data: z.object({
    timeout_ms: timeoutMs
      .min(1)
      .optional()
      .describe(
        `Milliseconds, ${limits.command.navigationMs} when not given. A navigation that began after the last action (a click, say) counts, ` +
          'even when it has ended already; without one, the next is waited for. Changes of the address within a document and new tabs count too',
      ),
  }),
  result: z.object({ url: z.string() }),
  run: async ({ navigated }, { timeout_ms = limits.command.navigationMs }) => ({
    data: { url: await navigated(timeout_ms) },
  }),
})

export const wait_for_element = defineCommand({
  kind: 'action',
  summary: 'Wait until an element is there',
  example: "'#results' --visible-only",
  data: z.object({
    selector,
    timeout_ms: elementTimeout,
    visible_only: z
      .boolean()
      .default(false)
      .describe('Wait for a match that can be seen, not only for one in the page'),
  }),
  result: z.object({ visible: z.boolean() }),
  run: async ({ act, locateAll }, { selector, timeout_ms, visible_only }) => {
    const visible = await act(
      selector,
      async (element, limit) => {
        if (!visible_only) {
          await element.waitFor({ state: 'attached', ...limit })
          return element.isVisible()
        }
        // Any match that can be seen will do, not only the first in the page.
        await locateAll(selector)
          .filter({ visible: true })
          .first()
          .waitFor({ state: 'attached', ...limit })
        return true
      },
      { timeoutMs: timeout_ms, needs: visible_only ? 'visible' : 'present' },
    )
    return { data: { visible } }
  },
})
