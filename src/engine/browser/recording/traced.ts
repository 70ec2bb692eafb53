/** Contexts that Playwright traces. */
import type { BrowserContext } from 'playwright'

const traced = new WeakSet<BrowserContext>()

export const isTraced = (context: BrowserContext): boolean => traced.has(context)

export function markTraced(context: BrowserContext, isTraced: boolean): void {
  if (isTraced) traced.add(context)
  else traced.delete(context)
}
