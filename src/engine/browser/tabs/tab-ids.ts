/** IDs of tabs: `tab_1`, `tab_2`, in the order in which a session first saw them. */
import type { BrowserContext, Page } from 'playwright'
import { oncePer } from '../../once-per.ts'

const ids = new WeakMap<Page, string>()
const countOf = oncePer<BrowserContext, { tabs: number }>(() => ({ tabs: 0 }))

/** Returns the ID of a tab; assigns one on first use, which may be before the context reports the page. */
export function tabIdOf(page: Page): string {
  let id = ids.get(page)
  if (id === undefined) ids.set(page, (id = `tab_${++countOf(page.context()).tabs}`))
  return id
}

/** Gives a page the ID of the tab that it replaces. */
export const takeTabId = (page: Page, id: string): void => void ids.set(page, id)
