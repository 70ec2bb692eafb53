/** The service's whole answer of a crawl, printed page by page however many there are. */
import type { CrawlAccounts, CrawlState } from '../../core/shapes/crawl.ts'
import type { CrawlCalls } from './crawl-calls.ts'
import type { Reader } from './reader.ts'

/** Pages asked for at once. */
const pagesAtOnce = 100

/** Prints what `POST /v1/crawl` answers, with all pages. */
export async function printAnswer(reader: Reader, calls: CrawlCalls): Promise<void> {
  const head: Partial<CrawlState> = await calls.state(0, 0)
  const accounts: Partial<CrawlAccounts> = await calls.accounts()
  for (const name of ['created_at', 'expires_at', 'next', 'data'] as const) delete head[name]
  delete accounts.success
  await reader.print(`${JSON.stringify(head).slice(0, -1)},"data":[`)
  for (let skip = 0; ;) {
    const { data } = await calls.state(skip, pagesAtOnce)
    if (data.length === 0) break
    for (const [at, page] of data.entries()) await reader.print(`${skip + at > 0 ? ',' : ''}${JSON.stringify(page)}`)
    skip += data.length
  }
  await reader.print(`],${JSON.stringify(accounts).slice(1)}\n`)
}
