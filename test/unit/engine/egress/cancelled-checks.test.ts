/** Checks of URLs before work is accepted: a request that is cancelled ends the look-up of the name. */
import { expect, test } from 'vitest'
import { keylessCaller } from '../../../../src/core/access/caller.ts'
import { sessionInput } from '../../../../src/core/shapes/session.ts'
import { crawlInput } from '../../../../src/core/shapes/crawl.ts'
import { planSession } from '../../../../src/engine/browser/create/plan.ts'
import { checkCrawl, planCrawl } from '../../../../src/engine/crawl/plan.ts'
import { Egress } from '../../../../src/engine/egress/egress.ts'
import type { PageScraper } from '../../../../src/engine/scrape/scraper.ts'
import { waitUntil } from '../../../support/wait.ts'

const session = (egress: Egress, signal: AbortSignal, input: object) =>
  planSession(sessionInput.parse(input), {
    egress,
    call: { caller: keylessCaller, signal },
    display: false,
    profile: async () => ({ profile_id: 'prf_1', state: { cookies: [], origins: [] } }),
    canShow: async () => false,
  })

const crawl = (egress: Egress, signal: AbortSignal, input: object) =>
  checkCrawl(planCrawl(crawlInput.parse(input)), { egress, check: async () => {} } as unknown as PageScraper, signal)

const checks = {
  'the start_url of a session': (...of: [Egress, AbortSignal]) => session(...of, { start_url: 'http://dead.test' }),
  'the cdp_url of a session': (...of: [Egress, AbortSignal]) => session(...of, { cdp_url: 'http://dead.test:9222' }),
  'the proxy of a session': (...of: [Egress, AbortSignal]) =>
    session(...of, { proxy: { server: 'http://dead.test:8080' } }),
  'the webhook of a crawl': (...of: [Egress, AbortSignal]) =>
    crawl(...of, { url: 'http://alive.test', webhook: { url: 'http://dead.test/hook' } }),
}

test.each(Object.entries(checks))('%s', async (_, check) => {
  const asked: string[] = []
  const abandoned: string[] = []
  const egress = new Egress({
    home: 'server',
    lookup: (host, signal) => {
      asked.push(host)
      signal?.addEventListener('abort', () => abandoned.push(host))
      return new Promise(() => {})
    },
  })
  const left = new AbortController()
  const checked = check(egress, left.signal)
  const failed = expect(checked).rejects.toThrow('the caller left')
  await waitUntil(() => asked.length > 0)
  left.abort(new Error('the caller left'))
  await failed
  expect([asked, abandoned]).toEqual([['dead.test'], ['dead.test']])
})
