/** Commands that open URLs and wait for navigations and elements. */
import type { Page } from 'playwright'
import { z } from 'zod'
import { type CallLimit, type CommandContext, defineCommand } from '../core/operation/command.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { elementTimeout, selector, timeoutMs } from './fields.ts'
import { flag } from '../core/shapes/fields.ts'
import { navigate, navigationTimeout, openUrl, typedUrl } from './session/open-url.ts'
import { waitForElement } from './wait/element.ts'

export * from './wait/wait-for.ts'

const arrived = z.object({
  url: z.string().describe('URL after redirects'),
  status_code: z.int().nullable().describe('HTTP status; null for non-HTTP URLs and navigations within a document'),
})

export const navigate_to = defineCommand({
  kind: 'action',
  summary: 'Open a URL and wait until it loads',
  also: ['goto', 'navigate', 'visit'],
  example: ['https://example.com', 'example.com --timeout-ms 60000'],
  data: z.object({
    url: typedUrl,
    timeout_ms: navigationTimeout,
  }),
  leaves: true,
  result: arrived,
  run: async ({ signal, checkUrl, leave }, { url, timeout_ms = limits.command.navigationMs }) => {
    const target = await checkUrl(url)
    return leave((page) => openUrl(page, target, { timeout: timeout_ms, signal }))
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
      const go = (inner: CallLimit) => (free === page ? page.reload(inner) : free.goto(url, inner))
      const response = await navigate(free, limit, go)
      return { data: { url: free.url(), status_code: response?.status() ?? null } }
    })
  },
})

export const go_back = defineCommand({
  kind: 'action',
  summary: 'Go back to the previous page',
  also: ['back'],
  example: '',
  data: z.object({ timeout_ms: navigationTimeout }),
  result: z.object({ url: z.string() }),
  run: (context, { timeout_ms }) => travel(context, 'back', timeout_ms),
})

export const go_forward = defineCommand({
  kind: 'action',
  summary: 'Go forward to the next page',
  also: ['forward'],
  example: '',
  data: z.object({ timeout_ms: navigationTimeout }),
  result: z.object({ url: z.string() }),
  run: (context, { timeout_ms }) => travel(context, 'forward', timeout_ms),
})

/** Moves through the history. @throws BaxError `navigation_failed` when there is no entry in this direction. */
function travel(
  { page, signal, leave }: CommandContext,
  direction: 'back' | 'forward',
  timeout: number = limits.command.navigationMs,
) {
  return leave(async (free) => {
    if (free !== page) {
      const message = 'the page did not answer, and its tab was replaced: there is no history'
      throw new BaxError('navigation_failed', message, { hint: 'open the URL with navigate_to' })
    }
    await checkHistory(page, direction)
    const limit = { timeout, signal }
    await navigate(page, limit, (inner) => (direction === 'back' ? page.goBack(inner) : page.goForward(inner)))
    return { data: { url: page.url() } }
  })
}

async function checkHistory(page: Page, direction: 'back' | 'forward'): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { entries, currentIndex } = await session.send('Page.getNavigationHistory')
  await session.detach()
  const index = currentIndex + (direction === 'back' ? -1 : 1)
  const entry = entries[index]
  // The empty page of a new tab is not a page that was visited.
  if (entry && !(index === 0 && entry.url === 'about:blank')) return
  const which = direction === 'back' ? 'previous' : 'next'
  throw new BaxError('navigation_failed', `the history has no ${which} page`, { details: { url: page.url() } })
}

export const wait_for_navigation = defineCommand({
  kind: 'action',
  summary: 'Wait for a navigation to finish',
  example: ['', '--timeout-ms 5000'],
  data: z.object({
    timeout_ms: timeoutMs
      .min(1)
      .optional()
      .describe(
        `Milliseconds, ${limits.command.navigationMs} when omitted. A navigation that began after the last action (such as a click) counts, ` +
          'even when it has already finished; otherwise waits for the next one. URL changes within a document and new tabs count too',
      ),
  }),
  waits: true,
  result: z.object({ url: z.string() }),
  run: async ({ navigated }, { timeout_ms = limits.command.navigationMs }) => ({
    data: { url: await navigated(timeout_ms) },
  }),
})

export const wait_for_element = defineCommand({
  kind: 'action',
  summary: 'Wait for an element to appear',
  example: ["'#results'", "'#results' --visible-only --timeout-ms 30000"],
  data: z.object({
    selector,
    timeout_ms: elementTimeout,
    visible_only: flag('Wait for a visible match, not only for one in the DOM'),
  }),
  waits: true,
  result: z.object({ visible: z.boolean() }),
  run: async (context, { visible_only, ...target }) => ({
    data: { visible: await waitForElement(context, target, visible_only) },
  }),
})
