/** Core Web Vitals of the current document. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright'
import { listWorlds } from '../observe/worlds.ts'
import type * as collecting from './vitals.page.ts'
import script from './vitals.page.ts?inline'

/** Time for the browser to report entries from before the call, at least and at most, and interval of checks. */
const leastMs = 150
const reportMs = 1000
const checkMs = 50

/** Values that every document has after its first paint. */
const expected = ['FCP', 'LCP', 'TTFB', 'CLS']

/** Returns each metric in milliseconds, CLS as a score; null while the document has none. */
export async function measureVitals(page: Page): Promise<Record<string, unknown>> {
  const [world] = await listWorlds(page)
  const started = performance.now()
  for (;;) {
    const found = await world!.call<ReturnType<typeof collecting.collect>>(script, 'collect', null)
    const passed = performance.now() - started
    const isComplete = expected.every((name) => found[name])
    if (passed > reportMs || (isComplete && passed > leastMs)) return shown(found, page.url())
    await pause(checkMs)
  }
}

const shown = (found: ReturnType<typeof collecting.collect>, url: string) => ({
  url,
  ...Object.fromEntries(
    ['LCP', 'CLS', 'INP', 'TTFB', 'FCP'].map((name) => {
      const metric = found[name]
      const digits = name === 'CLS' ? 10_000 : 10
      return [
        name.toLowerCase(),
        metric ? { value: Math.round(metric.value * digits) / digits, rating: metric.rating } : null,
      ]
    }),
  ),
})
