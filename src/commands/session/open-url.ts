/** Opens URLs, for the commands that navigate. */
import type { Page } from 'playwright'
import { retryTransient } from '../../core/errors/transient-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { isUrl } from '../../core/net/urls.ts'
import type { CallLimit, CommandOutcome } from '../../core/operation/command.ts'
import { urlText } from '../../core/shapes/fields.ts'
import { timeoutMs } from '../fields.ts'

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

/** Navigates a page, and first ends what it still loads: Chromium aborts a second navigation to the same URL at once. */
export async function navigate<T>(page: Page, go: () => Promise<T>): Promise<T> {
  if (unfinished.delete(page)) {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.stopLoading')
    await session.detach()
  }
  try {
    return await go()
  } catch (error) {
    if (!String(error).includes('net::ERR_')) unfinished.add(page)
    throw error
  }
}

/** Opens a URL and waits until it loads; returns the URL after redirects and the HTTP status. */
export async function openUrl(
  page: Page,
  url: string,
  limit: CallLimit,
): Promise<{ data: NonNullable<CommandOutcome['data']> }> {
  try {
    const response = await navigate(page, () => retryTransient(() => page.goto(url, limit)))
    return { data: { url: page.url(), status_code: response?.status() ?? null } }
  } catch (error) {
    // A page that navigates on before it has loaded was opened nevertheless.
    if (!(error instanceof Error && /interrupted by another navigation/.test(error.message))) throw error
    await page.waitForLoadState('load', { timeout: limit.timeout })
    return { data: { url: page.url(), status_code: null } }
  }
}
