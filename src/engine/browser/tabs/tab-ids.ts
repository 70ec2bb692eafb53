/** IDs of tabs: `tab_1`, `tab_2`, in the order in which a session first saw them. */
import type { BrowserContext, Page } from 'playwright'

const ids = new WeakMap<Page, string>()
const counts = new WeakMap<BrowserContext, number>()

/** Returns the ID of a tab; assigns one on first use, which may be before the context reports the page. */
export function tabIdOf(page: Page): string {
  let id = ids.get(page)
  if (id === undefined) {
    const context = page.context()
    const count = (counts.get(context) ?? 0) + 1
    counts.set(context, count)
    id = `tab_${count}`
    ids.set(page, id)
  }
  return id
}

/** Gives a page the ID of the tab that it replaces. */
export const takeTabId = (page: Page, id: string): void => void ids.set(page, id)
