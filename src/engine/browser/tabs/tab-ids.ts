/** Names of tabs: `tab_1`, `tab_2`, in the order in which a session first heard of them. */
import type { BrowserContext, Page } from 'playwright'

const ids = new WeakMap<Page, string>()
const counts = new WeakMap<BrowserContext, number>()

/** A page may ask for something before its context tells of it: whoever comes first names it. */
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

/** Gives a page the ID of the tab whose place it takes. */
export const takeTabId = (page: Page, id: string): void => void ids.set(page, id)
