/** IDs of tabs: `tab_1`, `tab_2`, in the order in which a session first saw them, and labels given by callers. */
import type { BrowserContext, Page } from 'playwright'
import { oncePer } from '../../../core/once-per.ts'

const ids = new WeakMap<Page, string>()
const labels = new WeakMap<Page, string>()
const countOf = oncePer<BrowserContext, { tabs: number }>(() => ({ tabs: 0 }))

/** Returns the ID of a tab; assigns one on first use, which may be before the context reports the page. */
export function tabIdOf(page: Page): string {
  let id = ids.get(page)
  if (id === undefined) ids.set(page, (id = `tab_${++countOf(page.context()).tabs}`))
  return id
}

export const tabLabelOf = (page: Page): string | undefined => labels.get(page)

export const setTabLabel = (page: Page, label: string): void => void labels.set(page, label)

/** Gives a page the ID and label of the tab that it replaces. */
export function takeTabId(page: Page, replaced: Page): void {
  ids.set(page, tabIdOf(replaced))
  const label = labels.get(replaced)
  if (label !== undefined) labels.set(page, label)
}

/** Makes the IDs of a context follow those of an earlier one of the same session, so that none is used twice. */
export function continueTabIds(context: BrowserContext, earlier: BrowserContext): void {
  countOf(context).tabs = countOf(earlier).tabs
}
