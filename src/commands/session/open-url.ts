/** Opens URLs, for the commands that navigate. */
import type { Page, Response } from 'playwright'
import { retryTransient } from '../../core/errors/transient-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { isUrl } from '../../core/net/urls.ts'
import type { CallLimit, CommandOutcome } from '../../core/operation/command.ts'
import { urlText } from '../../core/shapes/fields.ts'
import { timeoutMs } from '../fields.ts'
import { assertShown, untilLoaded, untilStaying } from '../wait/navigation-watch.ts'
import { Traffic } from './traffic.ts'

/** A URL as people type it. */
export const typedUrl = urlText
  .refine((url) => url === '' || isUrl(url), { error: 'is not a URL' })
  .describe('URL; without a scheme https:// is added, for loopback hosts and private addresses http://')

export const navigationTimeout = timeoutMs
  .min(1)
  .optional()
  .describe(`Timeout of the navigation in milliseconds, ${limits.command.navigationMs} when omitted`)

/** Pages that may still load the URL of a command which did not wait for it until the end. */
const unfinished = new WeakSet<Page>()

/**
 * Navigates a page, and waits until it loads; returns the response, null for non-HTTP URLs and navigations within a
 * document. First ends what the page still loads: Chromium aborts a second navigation to the same URL at once.
 */
export async function navigate(
  page: Page,
  limit: CallLimit,
  go: (limit: CallLimit) => Promise<Response | null>,
): Promise<Response | null> {
  if (unfinished.delete(page)) {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.stopLoading')
    await session.detach()
  }
  const traffic = new Traffic(page)
  const over = new AbortController()
  const inner = { ...limit, signal: AbortSignal.any([limit.signal, over.signal]) }
  const stays = untilShown(page, inner).then(() => untilStaying(page, inner))
  try {
    const response = await Promise.race([go(inner), stays.then(() => traffic.document ?? null)])
    assertShown(page)
    return response
  } catch (error) {
    if (!String(error).includes('net::ERR_')) unfinished.add(page)
    throw error instanceof Error && error.name === 'TimeoutError' ? traffic.late(limit.timeout, error) : error
  } finally {
    traffic.end()
    over.abort()
  }
}

/** Waits until a page shows another document. */
async function untilShown(page: Page, limit: CallLimit): Promise<void> {
  await page.waitForEvent('framenavigated', { predicate: (frame) => frame === page.mainFrame(), ...limit })
}

/** Opens a URL and waits until it loads; returns the URL after redirects and the HTTP status. */
export async function openUrl(
  page: Page,
  url: string,
  limit: CallLimit,
): Promise<{ data: NonNullable<CommandOutcome['data']> }> {
  try {
    const response = await navigate(page, limit, (inner) => retryTransient(() => page.goto(url, inner)))
    return { data: { url: page.url(), status_code: response?.status() ?? null } }
  } catch (error) {
    // A page that navigates on before it has loaded was opened nevertheless.
    if (!(error instanceof Error && /interrupted by another navigation/.test(error.message))) throw error
    await untilLoaded(page, limit)
    return { data: { url: page.url(), status_code: null } }
  }
}
