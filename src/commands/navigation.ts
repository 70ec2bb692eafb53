/** Commands that open URLs and wait for navigations and elements. */
import { z } from 'zod'
import { defineCommand } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { retryTransient } from '../core/errors/transient-errors.ts'
import { isUrl } from '../core/net/urls.ts'
import { elementTimeout, selector, timeoutMs } from './fields.ts'
import { flag, urlText } from '../core/shapes/fields.ts'

const navigationTimeout = timeoutMs
  .min(1)
  .optional()
  .describe(`Timeout of the navigation in milliseconds, ${limits.command.navigationMs} when omitted`)

const arrived = z.object({
  url: z.string().describe('URL after redirects'),
  status_code: z.int().nullable().describe('HTTP status; null for non-HTTP URLs and navigations within a document'),
})

export const navigate_to = defineCommand({
  kind: 'action',
  summary: 'Open a URL and wait until it loads',
  also: ['goto', 'navigate', 'visit'],
  example: 'https://example.com',
  data: z.object({
    url: urlText
      .refine((url) => url === '' || isUrl(url), { error: 'is not a URL' })
      .describe('URL; without a scheme https:// is added, for loopback hosts http://'),
    timeout_ms: navigationTimeout,
  }),
  result: arrived,
  run: async ({ signal, checkUrl, leave }, { url, timeout_ms = limits.command.navigationMs }) => {
    const target = checkUrl(url)
    return leave(async (page) => {
      try {
        const response = await retryTransient(() => page.goto(target, { timeout: timeout_ms, signal }))
        return { data: { url: page.url(), status_code: response?.status() ?? null } }
      } catch (error) {
        // A page that navigates on before it has loaded was opened nevertheless.
        if (!(error instanceof Error && /interrupted by another navigation/.test(error.message))) throw error
        await page.waitForLoadState('load', { timeout: timeout_ms })
        return { data: { url: page.url(), status_code: null } }
      }
    })
  },
})

export const refresh = defineCommand({
  kind: 'action',
  summary: 'Reload the page',
  also: ['reload'],
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
  summary: 'Wait for a navigation to finish',
  example: '--timeout-ms 5000',
  data: z.object({
    timeout_ms: timeoutMs
      .min(1)
      .optional()
      .describe(
        `Milliseconds, ${limits.command.navigationMs} when omitted. A navigation that began after the last action (such as a click) counts, ` +
          'even when it has already finished; otherwise waits for the next one. URL changes within a document and new tabs count too',
      ),
  }),
  result: z.object({ url: z.string() }),
  run: async ({ navigated }, { timeout_ms = limits.command.navigationMs }) => ({
    data: { url: await navigated(timeout_ms) },
  }),
})

export const wait_for_element = defineCommand({
  kind: 'action',
  summary: 'Wait for an element to appear',
  example: "'#results' --visible-only",
  data: z.object({
    selector,
    timeout_ms: elementTimeout,
    visible_only: flag('Wait for a visible match, not only for one in the DOM'),
  }),
  result: z.object({ visible: z.boolean() }),
  run: async ({ act, locateAll }, { visible_only, ...target }) => {
    const visible = await act(target, visible_only ? 'visible' : 'present', async (element, limit) => {
      if (!visible_only) {
        await element.waitFor({ state: 'attached', ...limit })
        return element.isVisible()
      }
      // Any visible match is enough, not only the first in the page.
      const shown = locateAll(target.selector).filter({ visible: true })
      await shown.first().waitFor({ state: 'attached', ...limit })
      return true
    })
    return { data: { visible } }
  },
})
