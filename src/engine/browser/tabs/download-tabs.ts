/** Tabs that pages open for a file: they show nothing, and browsers with windows close them, too. */
import type { BrowserContext, Page } from 'playwright'

/** Whether a page that was opened shows no document, since its first navigation became a download. */
export const isDownloadTab = (page: Page): boolean => page.url() === ''

/**
 * Closes blank tabs whose opener has navigated them to a file; returns a function that waits for those being closed.
 */
export function closeBlankTabs(context: BrowserContext): () => Promise<void> {
  let closing: Promise<void> = Promise.resolve()
  context.on('download', (download) => {
    const page = download.page()
    if (page.url() !== 'about:blank') return
    const before = closing
    // Ignore failures: the page may have closed or navigated.
    closing = before.then(() => closeIfEmpty(page)).catch(() => {})
  })
  return () => closing
}

async function closeIfEmpty(page: Page): Promise<void> {
  if ((await page.opener()) === null) return
  const isEmpty = () => document.body === null || document.body.childNodes.length === 0
  if (await page.evaluate(isEmpty)) await page.close()
}
