import { expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { scrapeInput } from '../../../src/core/shapes/scrape.ts'
import type { PageVersion, PageVersionStore } from '../../../src/core/stores.ts'
import { trackPage } from '../../../src/engine/changes/tracker.ts'
import { planScrape } from '../../../src/engine/scrape/plan.ts'

const plan = planScrape(
  scrapeInput.parse({ url: 'https://example.com/#part', formats: ['markdown', 'changeTracking'] }),
)

function memory(): PageVersionStore {
  const kept = new Map<string, PageVersion>()
  return {
    find: async ({ owner, page }) => kept.get(`${owner} ${page}`),
    save: async ({ owner, page }, version) => void kept.set(`${owner} ${page}`, version),
  }
}

const signal = new AbortController().signal
const track = (store: PageVersionStore, markdown: string, run?: string, of = plan) =>
  trackPage(store, {
    plan: of,
    page: { markdown, metadata: { sourceURL: plan.url } },
    owner: null,
    ...(run && { run }),
    signal,
  })

test('a page that a crawl writes twice is compared with the version before the crawl', async () => {
  const store = memory()
  await track(store, 'one')
  const first = await track(store, 'two', 'crl_1')
  expect(first).toMatchObject({ change: { changeStatus: 'changed' } })
  // As fetched, then rendered; or again after the crawl was killed.
  expect(await track(store, 'two', 'crl_1')).toEqual(first)
  expect(await track(store, 'one', 'crl_1')).toMatchObject({ change: { changeStatus: 'same' } })
  expect(await track(store, 'two', 'crl_2')).toMatchObject({ change: { changeStatus: 'changed' } })
  expect(await track(store, 'new', 'crl_3')).toMatchObject({ change: { previousScrapeAt: expect.any(String) } })
})

test('a page of its first crawl stays new', async () => {
  const store = memory()
  const isNew = { change: { previousScrapeAt: null, changeStatus: 'new', visibility: 'visible' } }
  expect(await track(store, 'one', 'crl_1')).toEqual(isNew)
  expect(await track(store, 'two', 'crl_1')).toEqual(isNew)
})

test('pages that are too large, and failures of the store, are warnings', async () => {
  const large = 'x'.repeat(limits.changes.versionChars + 1)
  expect(await track(memory(), large)).toEqual({ warning: 'changeTracking is missing: the page is too large' })
  const full = {
    ...memory(),
    save: () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
  }
  expect((await track(full, 'one')).warning).toMatch(/^changeTracking is missing: /)
})

test('a page is not compared with a version whose origin was not verified', async () => {
  const store = memory()
  const unverified = { ...plan, input: { ...plan.input, skip_tls_verification: true } }
  await track(store, 'one')
  expect(await track(store, 'other', undefined, unverified)).toMatchObject({ change: { changeStatus: 'new' } })
  expect(await track(store, 'other', undefined, unverified)).toMatchObject({ change: { changeStatus: 'same' } })
  expect(await track(store, 'one')).toMatchObject({ change: { changeStatus: 'same' } })
})
