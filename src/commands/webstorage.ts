/** Commands that read and change the local and session storage of a page. */
import type { Page } from 'playwright'
import { z } from 'zod'
import { defineCommand, extracted } from '../core/operation/command.ts'
import { limits } from '../core/limits/limits.ts'
import { BaxError } from '../core/errors/errors.ts'
import { extraction } from './fields.ts'

const items = z
  .array(z.object({ key: z.string(), value: z.string() }))
  .max(limits.input.items)
  .min(1)
  .max(10_000)
  .describe('Entries to set; other entries are unchanged')
const entries = extraction(z.record(z.string(), z.string()), ['object']).describe('Values by key')

/** Defines a command that reads a storage area. */
const getter = (area: Area, summary: string, also: readonly string[]) =>
  defineCommand({
    kind: 'extraction',
    summary,
    also,
    example: '',
    data: z.object({}),
    result: entries,
    run: async ({ page }) =>
      extracted(
        await reachable(page, () =>
          page.evaluate((name) => Object.fromEntries(Object.entries(globalThis[name])), area),
        ),
      ),
  })

/** Defines a command that sets entries of a storage area. */
const setter = (area: Area, summary: string, example: string) =>
  defineCommand({
    kind: 'action',
    summary,
    example,
    data: z.object({ items }),
    result: null,
    run: ({ page }, { items }) =>
      reachable(page, () =>
        page.evaluate(
          ({ name, items }) => {
            for (const { key, value } of items) globalThis[name].setItem(key, value)
          },
          { name: area, items },
        ),
      ),
  })

/** Defines a command that clears a storage area. */
const clearer = (area: Area, summary: string, also: readonly string[]) =>
  defineCommand({
    kind: 'action',
    summary,
    also,
    example: '',
    data: z.object({}),
    result: null,
    run: ({ page }) => reachable(page, () => page.evaluate((name) => globalThis[name].clear(), area)),
  })

export const get_local_storage = getter('localStorage', "Get the local storage of the page's origin", [
  'storage local',
  'localstorage get',
  'localstorage list',
])
export const set_local_storage = setter(
  'localStorage',
  "Set entries of the page's local storage",
  `'[{"key":"theme","value":"dark"}]'`,
)
export const clear_local_storage = clearer('localStorage', "Clear the local storage of the page's origin", [
  'localstorage clear',
  'storage local clear',
])
export const get_session_storage = getter('sessionStorage', "Get the page's session storage in this tab", [
  'storage session',
  'sessionstorage get',
  'sessionstorage list',
])
export const set_session_storage = setter(
  'sessionStorage',
  "Set entries of the page's session storage",
  `'[{"key":"step","value":"2"}]'`,
)
export const clear_session_storage = clearer('sessionStorage', "Clear the page's session storage in this tab", [
  'sessionstorage clear',
  'storage session clear',
])

type Area = 'localStorage' | 'sessionStorage'

/** Runs `work`. A page with an opaque origin has no storage, and a full storage rejects writes. */
async function reachable<T>(page: Page, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (/QuotaExceeded|exceeded the quota/.test(message)) {
      throw new BaxError('evaluate_failed', "the page's storage is full", { cause: error })
    }
    if (!/SecurityError|Access is denied|is sandboxed|inside 'data:'/.test(message)) throw error
    throw new BaxError('evaluate_failed', `${page.url()} has no storage`, {
      hint: 'open a page over http or https first',
      cause: error,
    })
  }
}
