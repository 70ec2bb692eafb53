/**
 * References of elements (`e12`). A number belongs to one element for as long as it lives and is never given again in
 * its session; here it is translated to what Playwright's `aria-ref` engine calls the element since its last snapshot.
 */
import type { BrowserContext, Page } from 'playwright'

const counters = new WeakMap<BrowserContext, number>()
const tables = new WeakMap<Page, ReadonlyMap<string, string>>()

/** The next free number of a session. */
export const nextNumber = (context: BrowserContext): number => counters.get(context) ?? 1

/** Says which numbers are taken now. */
export function takeNumbers(context: BrowserContext, next: number): void {
  counters.set(context, Math.max(next, nextNumber(context)))
}

/** Keeps what a snapshot of a page has named: from our references to Playwright's. */
export function keepRefs(page: Page, refs: ReadonlyMap<string, string>): void {
  tables.set(page, refs)
}

/**
 * Playwright's name for a reference of the page's last observation; one that nothing has when it is not in there. On a
 * page that was never observed no reference has another name.
 */
export function playwrightRef(page: Page, ref: string): string {
  const table = tables.get(page)
  return table ? (table.get(ref) ?? 'e0') : ref
}
