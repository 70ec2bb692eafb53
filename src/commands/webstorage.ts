/** Commands for the storage that a page keeps in the browser. */
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
  .describe('Entries to set; others stay as they are')
const entries = extraction(z.record(z.string(), z.string()), ['object']).describe('Values by key')

export const get_local_storage = defineCommand({
  kind: 'extraction',
  summary: "Local storage of the page's origin",
  example: '',
  data: z.object({}),
  result: entries,
  run: async ({ page }) => extracted(await read(page, 'localStorage')),
})

export const set_local_storage = defineCommand({
  kind: 'action',
  summary: "Set entries of the local storage of the page's origin",
  example: `'[{"key":"theme","value":"dark"}]'`,
  data: z.object({ items }),
  result: null,
  run: ({ page }, { items }) => write(page, 'localStorage', items),
})

export const clear_local_storage = defineCommand({
  kind: 'action',
  summary: "Empty the local storage of the page's origin",
  example: '',
  data: z.object({}),
  result: null,
  run: ({ page }) => empty(page, 'localStorage'),
})

export const get_session_storage = defineCommand({
  kind: 'extraction',
  summary: "Session storage of the page's origin in this tab",
  example: '',
  data: z.object({}),
  result: entries,
  run: async ({ page }) => extracted(await read(page, 'sessionStorage')),
})

export const set_session_storage = defineCommand({
  kind: 'action',
  summary: "Set entries of the session storage of the page's origin in this tab",
  example: `'[{"key":"step","value":"2"}]'`,
  data: z.object({ items }),
  result: null,
  run: ({ page }, { items }) => write(page, 'sessionStorage', items),
})

export const clear_session_storage = defineCommand({
  kind: 'action',
  summary: "Empty the session storage of the page's origin in this tab",
  example: '',
  data: z.object({}),
  result: null,
  run: ({ page }) => empty(page, 'sessionStorage'),
})

type Area = 'localStorage' | 'sessionStorage'

const read = (page: Page, area: Area): Promise<Record<string, string>> =>
  reachable(page, () => page.evaluate((name) => Object.fromEntries(Object.entries(globalThis[name])), area))

async function write(page: Page, area: Area, items: { key: string; value: string }[]): Promise<void> {
  await reachable(page, () =>
    page.evaluate(
      ({ name, items }) => {
        for (const { key, value } of items) globalThis[name].setItem(key, value)
      },
      { name: area, items },
    ),
  )
}

async function empty(page: Page, area: Area): Promise<void> {
  await reachable(page, () => page.evaluate((name) => globalThis[name].clear(), area))
}

/** A page without an origin of its own has no storage, and a full one takes no more. */
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
