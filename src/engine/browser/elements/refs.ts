/**
 * References of elements (`e12`). A number belongs to one element for its lifetime and is never reused in its session;
 * this module translates it to the name of the element in Playwright's `aria-ref` engine since the last snapshot.
 */
import type { BrowserContext, Page } from 'playwright'

const counters = new WeakMap<BrowserContext, number>()
const tables = new WeakMap<Page, ReadonlyMap<string, string>>()

/** Returns the next free number of a session. */
export const nextNumber = (context: BrowserContext): number => counters.get(context) ?? 1

/** Reserves all numbers below `next`. */
export function takeNumbers(context: BrowserContext, next: number): void {
  counters.set(context, Math.max(next, nextNumber(context)))
}

/** Stores the references of a page's last snapshot: from the engine's to Playwright's. */
export function keepRefs(page: Page, refs: ReadonlyMap<string, string>): void {
  tables.set(page, refs)
}

/**
 * Returns Playwright's name for a reference of the page's last observation, or a name that matches nothing if it is not
 * in there. On a page that was never observed, references are Playwright's own.
 */
export function playwrightRef(page: Page, ref: string): string {
  const table = tables.get(page)
  return table ? (table.get(ref) ?? 'e0') : ref
}
